"""Write-back: a ticket's systems are notified of what came of it."""
