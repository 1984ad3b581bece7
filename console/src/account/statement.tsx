/** The statement of a period: a look at it, and all of it as a file, exactly as the gateway writes it. */
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { StatementFigures, statementList } from '../figures/statement.tsx'
import { t } from '../messages/t.ts'
import { Problem } from '../problem.ts'
import { Button } from '../ui/button.tsx'
import { Card, Notice } from '../ui/card.tsx'
import { List } from '../ui/list/list.tsx'
import type { Period } from '../ui/range.ts'
import { useDays } from '../ui/range.tsx'
import { describeFailure, Shown } from '../ui/states.tsx'
import { goTo, useAddress, ViewLink } from './address.tsx'
import { Parties, PrintButton, useTaxLine } from './receipts.tsx'
import { ask, statementQuery, useAccount } from './read.ts'

const entryList = statementList({
  name: 'account-page-statement',
  caption: t('account.tabs.statement'),
  requestLink: (request, text = request) => (
    <ViewLink to={{ view: 'requests', request }}>{text}</ViewLink>
  ),
})

export function Statement() {
  const address = useAddress()
  const { period, picker } = useDays({
    value: address,
    usual: 'thisMonth',
    quick: ['thisMonth', 'lastMonth'],
    onChange: (range) => goTo({ ...address, ...range }, { replaces: true }),
  })
  const query = useQuery({ ...statementQuery(period), placeholderData: keepPreviousData })
  const { data: account } = useAccount()
  const taxLine = useTaxLine()
  return (
    <>
      {picker}
      <Card title={t('account.statementOf', period)} actions={<PrintButton />}>
        <Parties account={account} />
        {taxLine !== undefined && <p>{t('account.creditsInclude', { tax: taxLine })}</p>}
      </Card>
      <Shown query={query}>
        {({ figures, entries }) => (
          <>
            <StatementFigures
              of={{
                ...figures,
                from: `${period.from}T00:00:00Z`,
                opening: figures.opening_balance,
                closing: figures.closing_balance,
              }}
            />
            <List
              of={entryList}
              title={t('account.tabs.statement')}
              hint={t('account.lastLines')}
              list={{ rows: entries }}
              actions={<Save period={period} />}
            />
          </>
        )}
      </Shown>
    </>
  )
}

type Format = 'csv' | 'json'

function Save({ period }: { period: Period }) {
  const { data: account } = useAccount()
  const [bytes, setBytes] = useState(0)
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const saving = useMutation({
    async mutationFn(format: Format) {
      const controller = new AbortController()
      running.current = controller
      setBytes(0)
      const name = `statement-${plain(account?.name ?? '')}-${period.from}-${period.to}.${format}`
      try {
        const answer = await ask('/statement', { ...period, format }, controller)
        await saveAnswer(answer, name, setBytes)
        return t('account.savedAs', { name })
      } catch (error) {
        if (controller.signal.aborted) return ''
        throw error
      }
    },
  })
  const read =
    bytes === 0
      ? t('account.reading')
      : t('account.bytesRead', { size: (bytes / 1_000_000).toFixed(1) })
  return (
    <>
      <span role="status" className="soft">
        {saving.isPending ? read : saving.data}
      </span>
      {saving.isPending && (
        <Button onClick={() => running.current?.abort()}>{t('account.stop')}</Button>
      )}
      {saving.error !== null && (
        <Notice tone="bad">
          {describeFailure(saving.error).title} {t('account.nothingSaved')}
        </Notice>
      )}
      {!saving.isPending &&
        (['csv', 'json'] as const).map((format) => (
          <Button key={format} onClick={() => saving.mutate(format)}>
            <Download aria-hidden /> {format.toUpperCase()}
          </Button>
        ))}
    </>
  )
}

/** For a file name on every system. */
function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60)
}

const partBytes = 4_194_304

/**
 * Saves the body of an answer as a file. The parts go into blobs as they come, which browsers keep on disk,
 * so that a long statement does not fill the memory of the page. A body that breaks off leaves no file.
 */
async function saveAnswer(
  answer: Response,
  name: string,
  onProgress: (bytes: number) => void,
): Promise<void> {
  const type = answer.headers.get('content-type') ?? 'application/octet-stream'
  const blob = new Blob(await readParts(answer, onProgress), { type })
  const address = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}

async function readParts(answer: Response, onProgress: (bytes: number) => void): Promise<Blob[]> {
  const reader = answer.body?.getReader()
  const parts: Blob[] = []
  let waiting: Uint8Array<ArrayBuffer>[] = []
  let waitingBytes = 0
  let bytes = 0
  for (let next = await readNext(reader); next !== undefined; next = await readNext(reader)) {
    waiting.push(next)
    waitingBytes += next.length
    bytes += next.length
    if (waitingBytes < partBytes) continue
    parts.push(new Blob(waiting))
    waiting = []
    waitingBytes = 0
    onProgress(bytes)
  }
  return [...parts, new Blob(waiting)]
}

async function readNext(
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return (await reader?.read())?.value
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new Problem(0, { detail: t('account.brokenOff') })
  }
}
