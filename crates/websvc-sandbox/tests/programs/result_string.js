'plain text'
