"""Numbers fitted on data: shipped, learned on site, and boosted trees."""
