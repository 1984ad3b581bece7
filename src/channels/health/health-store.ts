/**
 * The state of channels that a restart needs, and the SQL for table `channel_health` that keeps it: plain
 * JSON without monotonic times, which mean nothing to the next process. Invariant: a channel that was off,
 * on trial or on the ramp resumes on trial, never on; learned times are kept.
 */
import type { Clock } from '../../base/clock.ts'
import { batchesOf } from '../../base/turns.ts'
import { eachRow, type Queryable, type Transaction } from '../../storage/database.ts'
import { column, rowForm, type Read } from '../../storage/row-form.ts'
import { upsertRows } from '../../storage/rows.ts'
import type { CheckKind } from '../channel.ts'
import type { Form } from './evidence.ts'
import {
  isInUse,
  shownMode,
  shownModes,
  startState,
  type HealthState,
  type OffCause,
  type ShownMode,
} from './health-state.ts'
import { freshLatency } from './latency.ts'
import type { Baseline } from './latency-baseline.ts'
import type { ChannelEntry, Place, WaitsByBody } from './health-place.ts'
import { restoreWaits, saveWaits, type SavedWaits } from './waits.ts'

const healthForm = rowForm({
  channel: column.text,
  model: column.text,
  mode: column.word<ShownMode>(),
  why: column.text,
  /** Wall times. */
  sinceMs: column.number,
  savedAtMs: column.number,
  /** JSON of `SavedDetail`. */
  detail: column.text,
})
export type SavedHealth = Read<typeof healthForm>

interface SavedDetail {
  readonly cause?: OffCause | undefined
  /** The form that failed. */
  readonly form?: Form | undefined
  readonly relapse: number
  /** Milliseconds before the moment of saving. */
  readonly downForMs?: number | undefined
  readonly lastOkAgoMs?: number | undefined
  readonly restForMs: number
  readonly baselines: readonly (SavedBaseline | null)[]
  readonly waits: Readonly<Record<keyof WaitsByBody, SavedWaits>>
}

type SavedBaseline = Omit<Baseline, 'at'> & { readonly ageMs: number }

interface SaveMoment {
  /** Monotonic and wall time of one moment. */
  readonly now: number
  readonly wallMs: number
}

/** In the order of channels and models; each at the moment it is asked for. */
export function* saveEntries(
  entries: Iterable<ChannelEntry>,
  clock: Clock,
): Generator<SavedHealth> {
  const byName = [...entries].map((entry) => [entry.channel.name, entry] as const).sort(byFirst)
  for (const [channel, { places }] of byName)
    for (const [model, place] of [...places].sort(byFirst))
      yield saveHealth({ channel, model }, place, {
        now: clock.monotonic(),
        wallMs: clock.now(),
      })
}

function byFirst([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1
}

export function saveHealth(
  place: { readonly channel: string; readonly model: string },
  { state, waits }: Pick<Place, 'state' | 'waits'>,
  { now, wallMs }: SaveMoment,
): SavedHealth {
  const { latency } = state
  const baselines = Array.from(latency.baselines, (baseline) => {
    if (baseline === undefined) return null
    const { at, ...rest } = baseline
    return { ...rest, weights: rest.weights.map(rounded), ageMs: now - at }
  })
  const down = isInUse(state) ? undefined : state
  const detail: SavedDetail = {
    cause: down?.cause,
    form: down?.form,
    relapse: state.relapse,
    downForMs: down === undefined ? undefined : now - down.downSince,
    lastOkAgoMs: state.lastOkAt === undefined ? undefined : now - state.lastOkAt,
    restForMs: Math.max(0, state.restUntil - now),
    baselines,
    waits: { reasoning: saveWaits(waits.reasoning, now), plain: saveWaits(waits.plain, now) },
  }
  return {
    ...place,
    mode: shownMode(state, now),
    why: state.why,
    sinceMs: Math.round(wallMs + state.since - now),
    savedAtMs: wallMs,
    detail: JSON.stringify(detail),
  }
}

function rounded(weight: number): number {
  return Math.round(weight * 100) / 100
}

export function restoreHealth(
  saved: SavedHealth,
  check: CheckKind,
  moment: SaveMoment,
): Pick<Place, 'state' | 'waits'> {
  const detail = JSON.parse(saved.detail) as SavedDetail
  const { now } = moment
  const elapsedMs = elapsedSince(saved, moment)
  const { reasoning, plain } = detail.waits
  return {
    state: restoreState(saved, { check, detail }, moment),
    waits: {
      reasoning: restoreWaits(reasoning, now, elapsedMs),
      plain: restoreWaits(plain, now, elapsedMs),
    },
  }
}

/** The wall clock may have been set back; no moment may lie in the future. */
function elapsedSince({ savedAtMs }: SavedHealth, { wallMs }: SaveMoment): number {
  return Math.max(0, wallMs - savedAtMs)
}

function restoreState(
  saved: SavedHealth,
  { check, detail }: { readonly check: CheckKind; readonly detail: SavedDetail },
  moment: SaveMoment,
): HealthState {
  const { now } = moment
  const elapsedMs = elapsedSince(saved, moment)
  const ago = (agoMs: number | undefined): number | undefined =>
    agoMs === undefined ? undefined : now - agoMs - elapsedMs
  const known = {
    ...startState(check, now),
    relapse: detail.relapse,
    lastOkAt: ago(detail.lastOkAgoMs),
    restUntil: now + Math.max(0, detail.restForMs - elapsedMs),
    latency: {
      ...freshLatency,
      baselines: detail.baselines.map((baseline) => {
        if (baseline === null) return undefined
        const { ageMs, ...rest } = baseline
        return { ...rest, at: now - ageMs - elapsedMs }
      }),
    },
  }
  if (saved.mode === 'on') return known
  if (saved.mode === 'slow')
    return { ...known, latency: { ...known.latency, slowSince: now }, why: saved.why, probeAt: now }
  const { lastOkAt, restUntil, latency, relapse } = known
  const { evidence, returnedAt, refutedAt } = known
  const kept = { check, lastOkAt, restUntil, latency, relapse, evidence, returnedAt, refutedAt }
  return {
    ...kept,
    mode: 'trial',
    since: now,
    why: 'restarted',
    cause: detail.cause ?? 'run',
    form: detail.form ?? 'stream',
    passed: 0,
    probeAt: now,
    tryingUntil: 0,
    downSince: ago(detail.downForMs) ?? now,
  }
}

// --- the table ----------------------------------------------------------------------------------

export async function readHealth(queryable: Queryable): Promise<readonly SavedHealth[]> {
  const rows = await queryable.query(`SELECT ${healthForm.columns} FROM channel_health`)
  // A mode of another version of the program is skipped.
  return rows.map(healthForm.read).filter(({ mode }) => shownModes.includes(mode))
}

const table = { table: 'channel_health', key: ['channel', 'model'] }
const rowsPerStatement = 100

/**
 * Replaces all stored states; `saved` is in the order of channels and models. Several nodes may do so at
 * once: the last write of a place counts, and the same order everywhere lets none wait for another.
 */
export async function replaceHealth(
  transaction: Transaction,
  saved: Iterable<SavedHealth>,
): Promise<void> {
  const kept = new Set<string>()
  for (const batch of batchesOf(saved, rowsPerStatement)) {
    for (const one of batch) kept.add(keyOf(one))
    await upsertRows(transaction, table, batch.map(healthForm.write))
  }
  const rows = eachRow(rowsPerStatement, (last) =>
    transaction.query(
      `SELECT channel, model FROM channel_health WHERE (channel, model) > ($1, $2)
        ORDER BY channel, model LIMIT ${rowsPerStatement}`,
      [last?.['channel'] ?? '', last?.['model'] ?? ''],
    ),
  )
  for await (const row of rows) {
    const place = { channel: String(row['channel']), model: String(row['model']) }
    if (kept.has(keyOf(place))) continue
    await transaction.query('DELETE FROM channel_health WHERE channel = $1 AND model = $2', [
      place.channel,
      place.model,
    ])
  }
}

function keyOf({ channel, model }: Pick<SavedHealth, 'channel' | 'model'>): string {
  return `${channel}\n${model}`
}
