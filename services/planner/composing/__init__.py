"""From a sentence to a procedure over components: a team of prompts, and code that checks it."""
