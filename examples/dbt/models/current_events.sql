{{ config(materialized="incremental", unique_key=["account", "uuid"], incremental_strategy="delete+insert") }}

with log as (
  select account, publication, write_id, snapshot_id, base_snapshot_id,
    lag(snapshot_id) over (partition by account order by publication) as before
  from {{ source("brand_events", "publications") }}
),
head as (
  select account, max(publication) as publication, arg_max(write_id, publication) as write_id from log group by account
),
applied as (
  {% if is_incremental() %}
  select account, max(publication) as publication, arg_max(write_id, publication) as write_id from {{ this }} group by account
  {% else %}
  select null as account, null as publication, null as write_id where false
  {% endif %}
),
-- These begin again from their events: new and gone accounts; what was applied last is no longer in the log; a publication
-- was not compared with the one before.
restarted as (
  select account, coalesce(head.publication, applied.publication) as publication, coalesce(head.write_id, applied.write_id) as write_id
  from head full join applied using (account)
  where not exists (
    select 1 from log
    where log.account = head.account and log.publication = applied.publication and log.write_id = applied.write_id
  ) or exists (
    select 1 from log
    where log.account = head.account and log.publication > applied.publication
      and (log.before is null or log.base_snapshot_id is distinct from log.before)
  )
),
changed as (
  select account, uuid, publication, write_id, change, after as event
  from {{ source("brand_events", "event_changes") }} c join log using (account, publication)
  where account not in (select account from restarted)
    and publication > (select publication from applied where applied.account = c.account)
  qualify row_number() over (partition by account, uuid order by publication desc) = 1
)
select account, uuid, publication, write_id, change = 'removed' as is_deleted, event from changed
union all
select e.account, e.uuid, r.publication, r.write_id, false, e.event
from {{ source("brand_events", "events") }} e join restarted r using (account)
{% if is_incremental() %}
union all
select t.account, t.uuid, r.publication, r.write_id, true, null
from {{ this }} t join restarted r using (account)
where not exists (
  select 1 from {{ source("brand_events", "events") }} e where e.account = t.account and e.uuid = t.uuid
)
{% endif %}
