/**
 * State of earlier answers: which account and which channel a stored answer, one of its items or encrypted
 * content belongs to. Table answer_state. Both engines write it in the commit that books the answer's
 * exchange, so it is durable before the client has the end of the answer. It holds no content.
 */
import { dayMs } from '../base/clock.ts'
import type { Database, Queryable } from '../storage/database.ts'
import { column, rowForm, type Read } from '../storage/row-form.ts'

type AnswerStateKind = 'response' | 'item' | 'encrypted'

/**
 * How vendors name state: an id of theirs, or the SHA-256 of encrypted content as base64url. Kind `encrypted`
 * also has the ids of containers: all that does not end with a stored answer.
 */
export interface AnswerStateKey {
  readonly kind: AnswerStateKind
  readonly id: string
}

/** What an answer has made that a later request may name. */
export interface MadeStates {
  readonly keys: readonly AnswerStateKey[]
  readonly expiresAtMs: number
  /** Tokens of the whole answer, for the hold of a request that continues from it. */
  readonly inputTokens: number
  readonly outputTokens: number
}

/**
 * Whose state it is. Some servers let a client choose the id of its answer: then a second account makes an id
 * that another one has made before, and may use it as a name, but not the vendor's answer behind it.
 */
type StateOwnership = 'own' | 'made_again' | 'foreign'

const stateForm = rowForm({
  kind: column.word<AnswerStateKind>(),
  id: column.text,
  channel: column.text,
  model: column.text,
  responseId: column.optional(column.text),
  inputTokens: column.number,
  outputTokens: column.number,
})

/** A known key. Nothing else of foreign state may be used. */
export type FoundState = Read<typeof stateForm> & { readonly owner: StateOwnership }

/** As long as the vendor keeps its answers. */
export const keptStateMs = 30 * dayMs

const answerStateColumns = [
  'vendor',
  'id',
  'kind',
  'account_id',
  'channel',
  'model',
  'response_id',
  'input_tokens',
  'output_tokens',
  'expires_at_ms',
] as const

/** The values of a row, in the order of the columns. */
export type AnswerStateRow = readonly [
  vendor: string,
  id: string,
  kind: AnswerStateKind,
  accountId: string,
  channel: string,
  model: string,
  responseId: string | null,
  inputTokens: number,
  outputTokens: number,
  expiresAtMs: number,
]

const keyColumns = 'vendor, id, kind, account_id'

/** Equal for rows of which a table has one. */
export function keyOfState([vendor, id, kind, accountId]: AnswerStateRow): string {
  return `${vendor} ${id} ${kind} ${accountId}`
}

/** Inserts one row on SQLite; the latest answer wins. PostgreSQL has function settle_exchanges. */
export const keepAnswerStateSql = `INSERT INTO answer_state (${answerStateColumns.join(', ')})
  VALUES (${answerStateColumns.map((_, index) => `$${index + 1}`).join(', ')})
  ON CONFLICT (${keyColumns}) DO UPDATE SET ${answerStateColumns
    .slice(keyColumns.split(', ').length)
    .map((column) => `${column} = excluded.${column}`)
    .join(', ')}`

/** Other ids are of no vendor, and not every store can hold them. */
const storableId = /^[!-~]{1,512}$/

/** Far more than an answer has; names beyond it are not known later. */
const keysPerAnswerMax = 1_000

/** The rows of what an answer has made. */
export function toAnswerStateRows(
  { keys, expiresAtMs, inputTokens, outputTokens }: MadeStates,
  answer: {
    readonly vendor: string
    readonly accountId: string
    readonly channel: string
    readonly model: string
  },
): readonly AnswerStateRow[] {
  const { vendor, accountId, channel, model } = answer
  const kept = keys.filter(({ id }) => storableId.test(id)).slice(0, keysPerAnswerMax)
  const responseId = kept.find(({ kind }) => kind === 'response')?.id ?? null
  const tokens = [inputTokens, outputTokens] as const
  return kept.map(({ kind, id }) => {
    return [vendor, id, kind, accountId, channel, model, responseId, ...tokens, expiresAtMs]
  })
}

/** The caller of a request that names state. */
interface StateOwner {
  readonly vendor: string
  readonly accountId: string
}

/** The state of answers in the store of a running gateway. */
export interface AnswerStates {
  /** Returns the state of each known key, by `stateName`; a key of no answer is missing. */
  find(
    keys: readonly AnswerStateKey[],
    owner: StateOwner & { readonly nowMs: number },
  ): Promise<ReadonlyMap<string, FoundState>>
  /** Forgets a stored answer of an account, and its items. Encrypted parts can still be sent back. */
  forget(responseId: string, owner: StateOwner): Promise<void>
}

export function openAnswerStates(database: Database): AnswerStates {
  return {
    find: (keys, owner) => findAnswerStates(database, keys, owner),
    forget: (responseId, owner) => forgetAnswer(database, responseId, owner),
  }
}

const keysPerQuery = 1_000

async function findAnswerStates(
  database: Database,
  keys: readonly AnswerStateKey[],
  { vendor, accountId, nowMs }: StateOwner & { readonly nowMs: number },
): Promise<ReadonlyMap<string, FoundState>> {
  const ids = [...new Set(keys.map(({ id }) => id))].filter((id) => storableId.test(id))
  const found = new Map<string, FoundState>()
  for (let start = 0; start < ids.length; start += keysPerQuery) {
    const some = JSON.stringify(ids.slice(start, start + keysPerQuery))
    const sql = findSql[database.dialect]
    // The first that has made an id comes first.
    for (const row of await database.query(sql, [vendor, some, nowMs])) {
      const state = stateForm.read(row)
      const name = stateName(state)
      const isFirst = !found.has(name)
      if (row['account_id'] === accountId)
        found.set(name, { ...state, owner: isFirst ? 'own' : 'made_again' })
      else if (isFirst) found.set(name, { ...state, owner: 'foreign' })
    }
  }
  return found
}

export function stateName({ kind, id }: AnswerStateKey): string {
  return `${kind} ${id}`
}

const findSql = {
  sqlite: findIn('SELECT value FROM json_each($2)'),
  postgres: findIn('SELECT json_array_elements_text($2)'),
} as const

function findIn(ids: string): string {
  return `SELECT account_id, ${stateForm.columns} FROM answer_state WHERE vendor = $1 AND id IN (${ids}) AND expires_at_ms > $3
    ORDER BY expires_at_ms`
}

async function forgetAnswer(
  database: Queryable,
  responseId: string,
  { vendor, accountId }: StateOwner,
): Promise<void> {
  await database.query(
    `DELETE FROM answer_state
      WHERE response_id = $1 AND vendor = $2 AND account_id = $3 AND kind <> 'encrypted'`,
    [responseId, vendor, accountId],
  )
}

const rowsPerTransaction = 200

/** Deletes the states that the vendor keeps no longer, in small transactions. */
export async function removeExpiredStates(
  database: Queryable,
  { nowMs, pause }: { readonly nowMs: number; readonly pause: () => Promise<void> },
): Promise<void> {
  for (;;) {
    const removed = await database.query(
      `DELETE FROM answer_state WHERE (${keyColumns}) IN (
         SELECT ${keyColumns} FROM answer_state WHERE expires_at_ms <= $1
          ORDER BY expires_at_ms LIMIT ${rowsPerTransaction})
       RETURNING id`,
      [nowMs],
    )
    if (removed.length < rowsPerTransaction) return
    await pause()
  }
}
