/** The settings in force of the gateway that answers: value, where it comes from, what it means. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Badge, Card } from '../../ui/card.tsx'
import { TextField } from '../../ui/field.tsx'
import { Prose } from '../../ui/prose.tsx'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { settingsQuery, type Setting } from './queries.ts'
import './settings.css'

export function InForce() {
  const { q = '' } = useSearch({ from: '/shell/settings' })
  const navigate = useNavigate({ from: '/settings' })
  const { data, error, refetch } = useQuery(settingsQuery)
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading rows={10} />
  const found = data.settings.filter((setting) => isMatch(setting, q.trim().toLowerCase()))
  const groups = [...new Set(found.map(({ group }) => group))]
  return (
    <>
      <div className="filters">
        <TextField
          label="Search"
          type="search"
          placeholder="timeout"
          value={q}
          onChange={(text) =>
            void navigate({
              search: { tab: 'in-force', ...(text !== '' && { q: text }) },
              replace: true,
            })
          }
        />
      </div>
      {groups.length === 0 && <Empty title="No setting matches.">Search for another word.</Empty>}
      {groups.map((group) => (
        <Card key={group} title={group} isFlush>
          <div className="setting-group">
            <SettingTable
              group={group}
              settings={found.filter((setting) => setting.group === group)}
            />
          </div>
        </Card>
      ))}
    </>
  )
}

function isMatch({ name, meaning, value }: Setting, words: string): boolean {
  return `${name} ${meaning} ${value ?? ''}`.toLowerCase().includes(words)
}

function SettingTable({ group, settings }: { group: string; settings: readonly Setting[] }) {
  return (
    <Table
      caption={group}
      rows={settings}
      rowKey={({ name }) => name}
      columns={[
        {
          name: 'Setting',
          cell: ({ name, meaning }) => (
            <div className="setting-meaning">
              <code>{name}</code>
              <p className="soft">
                <Prose text={meaning} />
              </p>
            </div>
          ),
        },
        {
          name: 'Value',
          cell: ({ value }) =>
            value === null ? <span className="soft">not set</span> : <code>{value}</code>,
        },
        {
          name: 'From',
          cell: ({ source, place, default: usual }) => (
            <span data-tip={usual === null ? '' : `Default: ${usual}`}>
              <Badge tone={source === 'default' ? 'neutral' : 'accent'}>{source}</Badge>
              {place !== null && <div className="soft break">{place}</div>}
            </span>
          ),
        },
      ]}
    />
  )
}
