-- Messages to channels of any service instead of Slack alone. channel: the key of its URL, or slack.
ALTER TABLE monitor_messages ADD COLUMN channel TEXT;
ALTER TABLE monitor_messages DROP CONSTRAINT monitor_messages_kind_check;
UPDATE monitor_messages SET kind = 'channel', channel = 'slack' WHERE kind = 'slack';
ALTER TABLE monitor_messages ADD CHECK (kind IN ('check', 'confirmation', 'email', 'channel'));
ALTER TABLE monitor_messages ADD CHECK ((kind = 'channel') = (channel IS NOT NULL));
