/** What a change of the catalogue means by entry and field, and who has changed what since. */
import { t } from '../../messages/t.ts'
import { Badge, Notice, type Tone } from '../../ui/card.tsx'
import { formatShare } from '../../ui/format.ts'
import { Stack } from '../../ui/layout.tsx'
import { Time } from '../../ui/values.tsx'
import { amountText, changeShare, fieldTitle, type FieldChange } from './amounts.ts'
import type { EntryDiff } from './requests.ts'

const actions: Readonly<Record<EntryDiff['action'], readonly [string, Tone]>> = {
  add: [t('entries.diff.added'), 'good'],
  change: [t('entries.diff.changed'), 'accent'],
  retire: [t('entries.diff.retired'), 'bad'],
}

const kinds: Readonly<Record<EntryDiff['kind'], string>> = {
  vendor: t('entries.kind.vendor'),
  model: t('entries.kind.model'),
  channel: t('entries.kind.channel'),
  account: t('entries.kind.account'),
  key: t('entries.kind.key'),
}

/** Such as `models large-1` in words. */
export function entryName({ kind, name }: Pick<EntryDiff, 'kind' | 'name'>): string {
  return `${kinds[kind]} ${name}`
}

/** Such as "1 added, 2 changed". */
export function summaryOf(diff: readonly EntryDiff[]): string {
  return (['add', 'change', 'retire'] as const)
    .map((action) => [diff.filter((entry) => entry.action === action).length, action] as const)
    .filter(([count]) => count > 0)
    .map(([count, action]) => `${count} ${actions[action][0].toLowerCase()}`)
    .join(', ')
}

export function DiffList({ diff }: { diff: readonly EntryDiff[] }) {
  return (
    <ul className="lined">
      {diff.map((entry) => (
        <li key={`${entry.kind} ${entry.name}`}>
          <DiffEntry entry={entry} />
        </li>
      ))}
    </ul>
  )
}

function DiffEntry({ entry }: { entry: EntryDiff }) {
  const { action, changes } = entry
  const [text, tone] = actions[action]
  const shown = action === 'add' ? changes.filter(({ to }) => (to ?? '') !== '') : changes
  return (
    <>
      <h3 className="row">
        <Badge tone={tone}>{text}</Badge>
        <span className="break">{entryName(entry)}</span>
      </h3>
      {action === 'retire' ? (
        <p className="soft">{t('entries.diff.retiredHint')}</p>
      ) : (
        <FieldChanges changes={shown} isNew={action === 'add'} />
      )}
    </>
  )
}

interface FieldChangesProps {
  readonly changes: readonly FieldChange[]
  /** The whole thing is new: there are no old values. */
  readonly isNew?: boolean
}

/** The fields with the old value, the new one, and the difference of a price. */
export function FieldChanges({ changes, isNew = false }: FieldChangesProps) {
  return (
    <dl className="pairs">
      {changes.map(({ field, from, to }) => [
        <dt key={`${field} name`}>{fieldTitle(field)}</dt>,
        <dd key={field}>
          {!isNew && (
            <>
              <Value field={field} text={from} />
              <span aria-hidden> → </span>
              <span className="visually-hidden"> {t('entries.diff.becomes')} </span>
            </>
          )}
          <strong>
            <Value field={field} text={to} />
          </strong>
          {isPrice(field) && <Difference change={{ field, from, to }} />}
        </dd>,
      ])}
    </dl>
  )
}

function Value({ field, text }: { field: string; text: string | undefined }) {
  if (text === undefined || text === '')
    return <span className="soft">{t('entries.diff.notSet')}</span>
  return <span className="break">{isPrice(field) ? amountText(field, text) : text}</span>
}

function isPrice(field: string): boolean {
  return /^(price|cost)\b|^(input|output|cache_)/.test(field)
}

/** Dearer and cheaper are neither good nor bad, so they have no colour. */
function Difference({ change }: { change: FieldChange }) {
  const share = changeShare(change)
  if (share === undefined || share === 0) return null
  return (
    <span className="soft">
      {' '}
      ({share > 0 ? '+' : '−'}
      {formatShare(Math.abs(share))})
    </span>
  )
}

/** A change of another operator, as the refusal of a change names it. */
interface OtherChange {
  readonly at: string
  readonly actor: string
  readonly actor_name: string | null
  readonly diff: readonly EntryDiff[]
}

function isOtherChange(value: unknown): value is OtherChange {
  return (
    typeof value === 'object' &&
    value !== null &&
    'at' in value &&
    'actor' in value &&
    'diff' in value &&
    Array.isArray(value.diff)
  )
}

interface OthersProps {
  /** Of the problem that the gateway has answered with. */
  readonly changes: readonly unknown[]
  /** The form shows by itself what became of its fields. */
  readonly isMerged?: boolean
}

/** Who has changed what since it was read, beside what the person wants to change. */
export function OthersSince({ changes, isMerged = false }: OthersProps) {
  return (
    <Notice tone="warn">
      <Stack isTight>
        {!isMerged && <p>{t('entries.others.intro')}</p>}
        {changes.filter(isOtherChange).map(({ at, actor, actor_name: name, diff }) => (
          <div key={`${at} ${actor}`}>
            <strong>{name ?? actor}</strong>, <Time at={at} />
            {isMerged ? (
              <>: {diff.map(entryName).join(', ')}</>
            ) : (
              diff.map((entry) => <DiffEntry key={entryName(entry)} entry={entry} />)
            )}
          </div>
        ))}
      </Stack>
    </Notice>
  )
}
