/** How this installation is set up: settings in force, gateways, backups, who may sign in, and its check. */
import { useMutation } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { Stethoscope } from 'lucide-react'
import { api, bodyOf } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { reworded, said, t, type Facts } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Card } from '../../ui/card.tsx'
import { defineList } from '../../ui/list/define.ts'
import { List } from '../../ui/list/list.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Access } from './access.tsx'
import { Backups } from './backups.tsx'
import { Gateways } from './gateways.tsx'
import { InForce } from './in-force.tsx'

export function Settings() {
  const { tab = 'in-force' } = useSearch({ from: '/shell/settings' })
  return (
    <Page title={t('settings.title')} hint={t('settings.hint')}>
      <Tabs
        label={t('settings.title')}
        current={tab}
        tabs={{
          'in-force': { text: t('settings.inForce'), content: <InForce /> },
          gateways: { text: t('settings.gatewaysTab'), content: <Gateways /> },
          backups: { text: t('settings.backups'), content: <Backups /> },
          access: { text: t('settings.access'), content: <Access /> },
          doctor: { text: t('settings.doctor'), content: <Doctor /> },
        }}
      />
    </Page>
  )
}

async function runDoctor() {
  const { findings } = await bodyOf(api.POST('/admin/v1/doctor'))
  return findings.map(({ code, message, facts, ...finding }) => ({
    ...finding,
    message: said(`doctor.${code}`, message, wordsOf(facts)),
  }))
}

/** A reason is a sentence by itself. */
function wordsOf({ reason, ...facts }: Facts): Facts {
  return typeof reason === 'string' ? { ...facts, reason: reworded(reason) } : facts
}

type Finding = Awaited<ReturnType<typeof runDoctor>>[number]

const tones = { ok: 'good', advice: 'warn', problem: 'bad' } as const

const findingList = defineList<Finding>({
  name: 'findings',
  caption: t('settings.findings'),
  rowKey: ({ area, message }) => `${area} ${message}`,
  rowTone: ({ status }) => (status === 'problem' ? 'bad' : undefined),
  columns: [
    {
      id: 'area',
      name: t('settings.area'),
      value: ({ area }) => area,
      cell: ({ area }) => t(`settings.areas.${area}`),
    },
    {
      id: 'result',
      name: t('settings.result'),
      place: 'state',
      value: ({ status }) => status,
      cell: ({ status }) => <Badge tone={tones[status]}>{t(`settings.results.${status}`)}</Badge>,
    },
    { id: 'finding', name: t('settings.finding'), isText: true, cell: ({ message }) => message },
  ],
  empty: null,
})

function Doctor() {
  const mayRun = useMay('operator')
  const running = useMutation({ mutationFn: runDoctor })
  const head = {
    title: t('settings.doctor'),
    hint: t('settings.doctorHint'),
    actions: mayRun && (
      <Button look="primary" isBusy={running.isPending} onClick={() => running.mutate()}>
        <Stethoscope aria-hidden /> {t('settings.runNow')}
      </Button>
    ),
  }
  if (running.data !== undefined && !running.isPending)
    return <List of={findingList} list={{ rows: running.data }} {...head} />
  return (
    <Card {...head}>
      {running.isPending && <Loading />}
      {running.error !== null && <Failure error={running.error} />}
      {running.isIdle && (
        <Empty title={t('settings.notRun')}>
          {mayRun ? t('settings.runTakes') : t('settings.operatorRuns')}
        </Empty>
      )}
    </Card>
  )
}
