-- Full text of messages (row id: the message's) and of titles (row id: minus the conversation's). An answer is
-- indexed when it ends. search_text() is the program's own function: text that the index can read of any bytes.
CREATE VIRTUAL TABLE search USING fts5 (body, tokenize = 'trigram');

CREATE TRIGGER message_added AFTER INSERT ON messages WHEN new.state <> 1 BEGIN
  INSERT INTO search (rowid, body) VALUES (new.id, search_text(new.content));
END;
CREATE TRIGGER message_changed AFTER UPDATE OF content, state ON messages WHEN new.state <> 1 BEGIN
  DELETE FROM search WHERE rowid = new.id;
  INSERT INTO search (rowid, body) VALUES (new.id, search_text(new.content));
END;
CREATE TRIGGER message_removed AFTER DELETE ON messages BEGIN
  DELETE FROM search WHERE rowid = old.id;
END;
CREATE TRIGGER title_added AFTER INSERT ON conversations BEGIN
  INSERT INTO search (rowid, body) VALUES (-new.id, search_text(new.title));
END;
CREATE TRIGGER title_changed AFTER UPDATE OF title ON conversations BEGIN
  DELETE FROM search WHERE rowid = -new.id;
  INSERT INTO search (rowid, body) VALUES (-new.id, search_text(new.title));
END;
CREATE TRIGGER title_removed AFTER DELETE ON conversations BEGIN
  DELETE FROM search WHERE rowid = -old.id;
END;

INSERT INTO search (rowid, body) SELECT id, search_text(content) FROM messages WHERE state <> 1;
INSERT INTO search (rowid, body) SELECT -id, search_text(title) FROM conversations;
