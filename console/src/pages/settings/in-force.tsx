/** The settings in force of the gateway that answers: value, where it comes from, what it means. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/client.ts'
import { said, t } from '../../messages/t.ts'
import { Badge } from '../../ui/card.tsx'
import { useListAddress } from '../../ui/list/address.ts'
import { defineList } from '../../ui/list/define.ts'
import { Filters } from '../../ui/list/filters.tsx'
import { List } from '../../ui/list/list.tsx'
import { Prose } from '../../ui/prose.tsx'
import { Empty } from '../../ui/states.tsx'

async function readSettings() {
  const { settings } = await bodyOf(api.GET('/admin/v1/settings'))
  return settings.map((one) => ({
    ...one,
    group: said(`settings.groups.${one.group}`, one.group),
    meaning: said(`settings.meanings.${one.name}`, one.meaning),
    default: one.default && said(`settings.defaults.${one.name}`, one.default),
  }))
}

type Setting = Awaited<ReturnType<typeof readSettings>>[number]

export const settingsQuery = queryOptions({
  queryKey: ['settings', 'in-force'],
  queryFn: readSettings,
})

const settingList = defineList<Setting, 'q'>({
  name: 'settings',
  caption: t('settings.inForce'),
  rowKey: ({ name }) => name,
  filters: [{ kind: 'text', name: 'q', label: t('settings.search'), placeholder: 'timeout' }],
  columns: [
    {
      id: 'setting',
      name: t('settings.setting'),
      isText: true,
      value: ({ name }) => name,
      cell: ({ name, meaning }) => (
        <>
          <code>{name}</code>
          <p className="soft">
            <Prose text={meaning} />
          </p>
        </>
      ),
    },
    {
      id: 'value',
      name: t('settings.value'),
      place: 'note',
      cell: ({ value }) =>
        value === null ? (
          <span className="soft">{t('settings.notSet')}</span>
        ) : (
          <code className="break">{value}</code>
        ),
    },
    {
      id: 'from',
      name: t('settings.from'),
      place: 'state',
      value: ({ source }) => source,
      cell: ({ source, place, default: usual }) => (
        <span data-tip={usual === null ? '' : t('settings.default', { usual })}>
          <Badge tone={source === 'default' ? 'neutral' : 'accent'}>
            {t(`settings.sources.${source}`)}
          </Badge>
          {place !== null && <div className="soft break">{place}</div>}
        </span>
      ),
    },
    {
      id: 'group',
      name: t('settings.group'),
      room: 'widest',
      value: ({ group }) => group,
      cell: ({ group }) => <span className="soft">{group}</span>,
    },
  ],
  empty: <Empty title={t('settings.noMatch')}>{t('settings.noMatchHint')}</Empty>,
})

export function InForce() {
  const search = useSearch({ from: '/shell/settings' })
  const { change, list: address } = useListAddress(search)
  const { data, error, refetch } = useQuery(settingsQuery)
  const words = (search.q ?? '').trim().toLowerCase()
  const rows = data?.filter(({ name, meaning, value }) =>
    `${name} ${meaning} ${value ?? ''}`.toLowerCase().includes(words),
  )
  return (
    <>
      <Filters filters={settingList.filters ?? []} values={search} onChange={change} />
      <List
        of={settingList}
        {...address}
        list={{ rows, error, retry: () => void refetch() }}
        title={t('settings.inForce')}
      />
    </>
  )
}
