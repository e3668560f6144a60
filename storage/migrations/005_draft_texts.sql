-- Earlier texts that drafts are looked up in, as token ids. They leave with their conversation.
CREATE TABLE draft_texts (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given again, so that a reader may keep what it has read
  conversation INTEGER NOT NULL,
  vocabulary TEXT NOT NULL, -- what the ids mean: the vocabulary's fingerprint
  part INTEGER NOT NULL,    -- texts are cut on a grid of 1,024 tokens
  tokens BLOB NOT NULL,     -- int32, little endian
  bytes INTEGER NOT NULL    -- this row and its index, about
);
CREATE INDEX draft_texts_part ON draft_texts (conversation, vocabulary, part);
CREATE INDEX draft_texts_bytes ON draft_texts (bytes);

-- Hash of the 3 or 6 tokens before a place of a text.
CREATE TABLE draft_places (
  hash INTEGER NOT NULL,
  text INTEGER NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (hash, text, place)
) WITHOUT ROWID;
