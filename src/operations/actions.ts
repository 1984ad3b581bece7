/**
 * The operators' log: who did what to what, and when. The invariant: a line is written in the
 * transaction of the change itself, so that neither exists without the other; it holds no secret.
 */
import { z } from 'zod'
import { findMemberEmails } from '../access/member-store.ts'
import { findKeyNames, listKeys } from '../access/key-store.ts'
import { findAccountNames } from '../ledger/account-store.ts'
import { Conditions } from '../storage/conditions.ts'
import type { Queryable, Row, Transaction } from '../storage/database.ts'
import { insertRow } from '../storage/rows.ts'
import { moment, type Answer } from './answer-forms.ts'
import { timeText, type OperationContext } from './operation.ts'

export const actionForm = z.strictObject({
  at: moment,
  sequence: z.int(),
  actor: z.string(),
  actor_name: z
    .string()
    .nullable()
    .meta({ description: 'Of the token, or the address of the member; null for a command.' }),
  /** `account.create`, `key.revoke`, `channel.off`, `catalogue.apply` … */
  action: z.string(),
  /** The id or name of the changed thing. */
  subject: z.string(),
  subject_name: z
    .string()
    .nullable()
    .meta({ description: 'Where the subject is the id of an account, a key or a member.' }),
  detail: z.record(z.string(), z.unknown()),
})

export type ActionView = Answer<typeof actionForm>

export async function recordAction(
  transaction: Transaction,
  context: Pick<OperationContext, 'actor' | 'clock'>,
  change: {
    readonly action: string
    readonly subject: string
    readonly detail?: Readonly<Record<string, unknown>>
  },
): Promise<void> {
  const { action, subject, detail = {} } = change
  await insertRow(transaction, 'operator_action', {
    at_ms: context.clock.now(),
    actor: context.actor,
    action,
    subject,
    detail: JSON.stringify(detail),
  })
}

/** Returns the actions of one actor, oldest first. */
export async function listActionsBy(
  queryable: Queryable,
  actor: string,
): Promise<readonly Pick<ActionView, 'action' | 'subject'>[]> {
  const rows = await queryable.query(
    'SELECT action, subject FROM operator_action WHERE actor = $1 ORDER BY sequence',
    [actor],
  )
  return rows.map((row) => ({ action: String(row['action']), subject: String(row['subject']) }))
}

/** Finds when an action of this name was last recorded, in milliseconds. */
export async function findLastAction(
  queryable: Queryable,
  action: string,
): Promise<number | undefined> {
  const [row] = await queryable.query(
    'SELECT at_ms FROM operator_action WHERE action = $1 ORDER BY sequence DESC LIMIT 1',
    [action],
  )
  return row === undefined ? undefined : Number(row['at_ms'])
}

export interface ActionsQuestion {
  /** Only before this number. */
  readonly before: number
  /** An action such as `key.revoke`, or an area such as `key`. */
  readonly action?: string | undefined
  /** Actors as they are recorded, or names of tokens. */
  readonly actor?: string | undefined
  readonly subjects?: readonly string[] | undefined
  /** With its changes by a file of the whole catalogue. */
  readonly channel?: string | undefined
  /** Leaves out sign-ins and sign-outs. */
  readonly hidesSessions?: boolean
  /** From inclusive, to exclusive. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  readonly countMax: number
}

/** Lists the actions that fit, newest first. */
export async function listActions(
  database: Queryable,
  question: ActionsQuestion,
): Promise<readonly ActionView[]> {
  if (question.subjects?.length === 0) return []
  const names = await readActorNames(database)
  const conditions = conditionsOf(question, names)
  const rows = await database.query(
    `SELECT * FROM operator_action WHERE ${conditions.text}
      ORDER BY sequence DESC LIMIT ${conditions.place(question.countMax)}`,
    conditions.values,
  )
  return viewActions(database, rows, names)
}

async function viewActions(
  queryable: Queryable,
  rows: readonly Row[],
  names: ActorNames,
): Promise<readonly ActionView[]> {
  const subjects = await readSubjectNames(
    queryable,
    rows.map((row) => String(row['subject'])),
  )
  const members = await findMemberEmails(
    queryable,
    rows.map((row) => String(row['actor'])),
  )
  const actors = new Map([...names, ...members])
  return rows.map((row) => viewAction(row, actors, subjects))
}

/** What operators do to an account, its keys and its members, as its owners see it. */
const shownToOwners = [
  'account.create',
  'account.suspend',
  'account.resume',
  'account.close',
  'account.reopen',
  'key.create',
  'key.edit',
  'key.rotate',
  'key.revoke',
  'member.invite',
  'member.edit',
  'member.remove',
] as const

/** Lists what members of an account did, and what operators did to these subjects; newest first. */
export async function listAccountActions(
  queryable: Queryable,
  question: {
    readonly memberIds: readonly string[]
    readonly subjects: readonly string[]
    readonly before: number
    readonly countMax: number
  },
): Promise<readonly ActionView[]> {
  const conditions = new Conditions()
  conditions.compare('sequence <', question.before)
  const members = conditions.placesOf(['', ...question.memberIds])
  conditions.add(
    `(actor IN (${members}) OR (subject IN (${conditions.placesOf(question.subjects)})
       AND action IN (${conditions.placesOf(shownToOwners)})))`,
  )
  const rows = await queryable.query(
    `SELECT * FROM operator_action WHERE ${conditions.text}
      ORDER BY sequence DESC LIMIT ${conditions.place(question.countMax)}`,
    conditions.values,
  )
  return viewActions(queryable, rows, new Map())
}

/** What tells an action from others. */
export interface ActionHead {
  readonly sequence: number
  readonly atMs: number
  readonly actor: string
  readonly action: string
}

/** Finds the newest action of these names up to a number; it reads no detail, which can be long. */
export async function findNewestAction(
  queryable: Queryable,
  actions: readonly string[],
  upTo = Number.MAX_SAFE_INTEGER,
): Promise<ActionHead | undefined> {
  const found: Row[] = []
  for (const action of actions)
    found.push(
      ...(await queryable.query(
        `SELECT sequence, at_ms, actor, action FROM operator_action
          WHERE action = $1 AND sequence <= $2 ORDER BY sequence DESC LIMIT 1`,
        [action, upTo],
      )),
    )
  const [newest] = found
    .map((row) => ({
      sequence: Number(row['sequence']),
      atMs: Number(row['at_ms']),
      actor: String(row['actor']),
      action: String(row['action']),
    }))
    .sort((left, right) => right.sequence - left.sequence)
  return newest
}

/** Lists the actions of these names after a number, newest first. */
export async function listActionsAfter(
  queryable: Queryable,
  question: {
    readonly actions: readonly string[]
    readonly after: number
    readonly countMax: number
  },
): Promise<readonly ActionView[]> {
  const { actions, after, countMax } = question
  const rows: Row[] = []
  for (const action of actions)
    rows.push(
      ...(await queryable.query(
        `SELECT * FROM operator_action WHERE action = $1 AND sequence > $2
          ORDER BY sequence DESC LIMIT $3`,
        [action, after, countMax],
      )),
    )
  if (rows.length === 0) return []
  const names = await readActorNames(queryable)
  return rows
    .map((row) => viewAction(row, names))
    .sort((left, right) => right.sequence - left.sequence)
    .slice(0, countMax)
}

function conditionsOf(
  { before, action, actor, subjects, channel, hidesSessions, fromMs, toMs }: ActionsQuestion,
  names: ActorNames,
): Conditions {
  const conditions = new Conditions()
  conditions.compare('sequence <', before)
  if (action?.includes('.') === true) conditions.compare('action =', action)
  // The sign that follows the point sorts behind all actions of the area.
  else if (action !== undefined) {
    conditions.compare('action >', `${action}.`)
    conditions.compare('action <', `${action}/`)
  }
  if (actor !== undefined)
    conditions.add(`actor IN (${conditions.placesOf(actorsOf(actor, names))})`)
  if (subjects !== undefined) conditions.add(`subject IN (${conditions.placesOf(subjects)})`)
  if (channel !== undefined) {
    const own = conditions.place(channel)
    const part = `%"kind":"channel","name":"${channel.replaceAll(/[%_\\]/g, '\\$&')}"%`
    conditions.add(
      `((subject = ${own} AND action <> 'catalogue.apply') OR (action = 'catalogue.apply'
         AND subject IN (${own}, 'catalogue') AND detail LIKE ${conditions.place(part)} ESCAPE '\\'))`,
    )
  }
  if (hidesSessions === true)
    conditions.add(
      "action NOT LIKE 'session.%' AND action NOT LIKE 'member.sign-%' AND action <> 'sign-in-code.create'",
    )
  conditions.compare('at_ms >=', fromMs)
  conditions.compare('at_ms <', toMs)
  return conditions
}

/** Reads what accounts, keys and members among these are called, by id. */
async function readSubjectNames(
  queryable: Queryable,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const idsWith = (prefix: string): readonly string[] =>
    subjects.filter((one) => one.startsWith(prefix))
  const accounts = await findAccountNames(queryable, idsWith('acc_'))
  const keys = await findKeyNames(queryable, idsWith('key_'))
  return new Map([...accounts, ...keys, ...(await findMemberEmails(queryable, idsWith('mem_')))])
}

/** The actor as it is given, and the tokens of this name. */
function actorsOf(actor: string, names: ActorNames): readonly string[] {
  return [actor, ...[...names].filter(([, name]) => name === actor).map(([id]) => id)]
}

/** Returns the number of the newest action; 0 where there is none. */
export async function newestAction(queryable: Queryable): Promise<number> {
  const [row] = await queryable.query('SELECT MAX(sequence) AS sequence FROM operator_action')
  return Number(row?.['sequence'] ?? 0)
}

/** By the id of the token. */
export type ActorNames = ReadonlyMap<string, string>

/** Reads the names of admin tokens, revoked ones too. */
export async function readActorNames(queryable: Queryable): Promise<ActorNames> {
  const tokens = await listKeys(queryable, { kind: 'admin', accountId: undefined })
  return new Map(tokens.filter(({ name }) => name !== '').map(({ id, name }) => [id, name]))
}

function viewAction(
  row: Row,
  names: ActorNames,
  subjects: ReadonlyMap<string, string> = new Map(),
): ActionView {
  const actor = String(row['actor'])
  const subject = String(row['subject'])
  return {
    at: timeText(Number(row['at_ms'])),
    sequence: Number(row['sequence']),
    actor,
    actor_name: names.get(actor) ?? null,
    action: String(row['action']),
    subject,
    subject_name: subjects.get(subject) ?? null,
    detail: JSON.parse(String(row['detail'])) as Record<string, unknown>,
  }
}
