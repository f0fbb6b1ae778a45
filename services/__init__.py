"""FlowXpert: operation documents become checked, cited, ranked workflows for incident tickets."""
