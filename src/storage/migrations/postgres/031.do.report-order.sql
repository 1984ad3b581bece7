-- The rows of report_day in an order that adds up a day by model without sorting.
ALTER TABLE report_day DROP CONSTRAINT report_day_pkey,
  ADD PRIMARY KEY (day, model, channel, account_id, key_id);
