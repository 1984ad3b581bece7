/**
 * What an operation is: checked input in, a value out, faults thrown. Operations know no HTTP and no
 * command line, so the command line, the admin API and the console can all call them. The invariant:
 * an expected "no" leaves an operation as a `Refusal`; only faults of our own leave it as exceptions.
 */
import { z } from 'zod'
import type { Member } from '../access/member-store.ts'
import type { Clock } from '../base/clock.ts'
import { GatewayError, type ErrorCode, type Refusal } from '../base/errors.ts'
import type { Picos } from '../base/money.ts'
import type { Secret } from '../base/secret.ts'
import { explainSystemError } from '../base/system-error.ts'
import type { SettingInForce } from '../settings/in-force.ts'
import type { Database } from '../storage/database.ts'
import type { Answer } from './answer-forms.ts'
import type { CredentialRule } from './catalogue/credential-rule.ts'
import type { CodeTries } from './codes/code-tries.ts'
import type { Mailing } from './members/mailing.ts'
import type { SignUpRule } from './members/sign-up-rule.ts'
import type { RunCheck } from './channels/run-check.ts'
import type { Checkout } from './payments/payment.ts'
import type { AuditView } from './store/audit-forms.ts'
import type { OpenCopy } from './store/open-copy.ts'

/** For an operation that takes no input. */
export const noInput = z.strictObject({})

/** What every operation needs: the store, the time, the actor, and facts of the process. */
export interface OperationContext {
  readonly database: Database
  readonly clock: Clock
  /** Who acts, for the operators' log: `cli:<login>`, or the id of an admin token or a member. */
  readonly actor: string
  /** The hash of the session that acts; absent where the token itself does, and in commands. */
  readonly session?: string
  /** The member who acts; absent for operators, who may do more. */
  readonly member?: Pick<Member, 'id' | 'accountId' | 'role'>
  /** How people get mail. Absent = this program sends none. */
  readonly mailing?: Mailing
  /** Who may sign up. Absent = operators alone make accounts. */
  readonly signUp?: SignUpRule | undefined
  /** The key that seals vendor credentials. Read only when a credential is sealed or opened. */
  readonly masterKey: () => Secret
  /** Variables of the process, for credentials written as `env:NAME`. */
  readonly environment: (name: string) => string | undefined
  /** Limits the credentials of a catalogue that comes over the network; undefined = no limit. */
  readonly credentialRule?: CredentialRule
  /** Hides sealed credentials in a catalogue: its reader may not apply one. */
  readonly hidesSealed?: boolean
  /** Bounds the tries of top-up codes. Absent where only operators try one. */
  readonly codeTries?: CodeTries
  /** The address of the client, where there is one. */
  readonly address?: string | undefined
  /** Takes payments. Absent where it is not set up. */
  readonly checkout?: Checkout
  /** The actor may book credits and may not take money back. */
  readonly takesNothingBack?: boolean
  /** Sends a check to a vendor. Its client is opened when it is used first. */
  readonly runCheck: RunCheck
  /**
   * Audits the whole ledger on another thread; refuses while such an audit runs. Absent = the caller's thread
   * may be busy for long.
   */
  readonly auditInBackground?: () => Promise<AuditView>
  /** Copies an embedded store to a file that is only open, for a reader on another machine. */
  readonly openCopy?: () => Promise<OpenCopy>
  /** Reads what open holds reserve, by account. Absent = only a running gateway knows. */
  readonly readHeld?: (accountIds: readonly string[]) => Promise<ReadonlyMap<string, Picos>>
  /** The tax that credits include, in thousandths of a percent. Absent where it is not known. */
  readonly taxThousandths?: number
  /** The settings of the process, without secrets. Absent where it has none. */
  readonly settings?: readonly SettingInForce[]
}

interface FieldMistake {
  /** Path of the field in the input; empty for the input as a whole. */
  readonly field: string
  readonly message: string
}

/** An expected "no". `details` are facts for programs, such as the mistakes in a file. */
export interface OperationRefusal extends Refusal {
  /** Only where the input does not fit its schema. */
  readonly fields?: readonly FieldMistake[]
}

export type Outcome<Value> = { readonly kind: 'done'; readonly value: Value } | OperationRefusal

/** Checks its input, then works. `Effects` are what only its caller can give, such as a sink. */
export interface Operation<
  Value = unknown,
  Schema extends z.ZodObject = z.ZodObject,
  Effects extends readonly unknown[] = [],
> {
  (context: OperationContext, input: unknown, ...effects: Effects): Promise<Outcome<Value>>
  /** What it accepts. */
  readonly input: Schema
}

/** An operation whose value APIs show. */
export interface AnsweringOperation<
  Value = unknown,
  Schema extends z.ZodObject = z.ZodObject,
  Effects extends readonly unknown[] = [],
> extends Operation<Value, Schema, Effects> {
  /** The form of its value. */
  readonly answer: z.ZodType
}

type Work<Value, Schema extends z.ZodObject, Effects extends readonly unknown[]> = (
  context: OperationContext,
  input: z.output<Schema>,
  ...effects: Effects
) => Promise<Value>

/**
 * Makes an operation from the schemas of its input and of its answer, and its work. Inside `work` a refusal
 * is thrown (`conflict`, `notFound`, `invalid`), so that a transaction rolls back; the caller gets a value.
 */
export function operation<
  Schema extends z.ZodObject,
  Form extends z.ZodType,
  Effects extends readonly unknown[],
>(
  schemas: { readonly input: Schema; readonly answer: Form },
  work: Work<Answer<Form>, Schema, Effects>,
): AnsweringOperation<Answer<Form>, Schema, Effects>
export function operation<Schema extends z.ZodObject, Value, Effects extends readonly unknown[]>(
  schemas: { readonly input: Schema },
  work: Work<Value, Schema, Effects>,
): Operation<Value, Schema, Effects>
export function operation<Schema extends z.ZodObject, Value, Effects extends readonly unknown[]>(
  schemas: { readonly input: Schema; readonly answer?: z.ZodType },
  work: Work<Value, Schema, Effects>,
): Operation<Value, Schema, Effects> {
  const perform = async (
    context: OperationContext,
    input: unknown,
    ...effects: Effects
  ): Promise<Outcome<Value>> => {
    const parsed = schemas.input.safeParse(input, { error: wordsFor })
    return parsed.success
      ? attempt(() => work(context, parsed.data, ...effects))
      : refusalOfIssues(parsed.error)
  }
  return Object.assign(perform, schemas)
}

/** Returns the refusal that an operation gives for the form of its input; undefined where it fits. */
export function refusalOfInput(schema: z.ZodType, input: unknown): OperationRefusal | undefined {
  const parsed = schema.safeParse(input, { error: wordsFor })
  return parsed.success ? undefined : refusalOfIssues(parsed.error)
}

function refusalOfIssues({ issues }: z.ZodError): OperationRefusal {
  return refusalOfFields(issues.flatMap(mistakesOf))
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

/** Returns the message for a mistake for which the schema has none; undefined = the one of the library. */
function wordsFor(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`
  if (issue.code === 'invalid_union')
    return 'must have one of the forms that /admin/v1/openapi.json shows'
  if (issue.code !== 'invalid_type') return undefined
  if (issue.input === undefined) return 'is missing'
  const word = typeWords[issue.expected]
  return word === undefined ? undefined : `must be ${word}`
}

/** Names each field that the schema does not know, instead of the object that holds it. */
function mistakesOf(issue: z.core.$ZodIssue): readonly FieldMistake[] {
  const { path, message } = issue
  if (issue.code !== 'unrecognized_keys') return [{ field: path.join('.'), message }]
  return issue.keys.map((key) => ({
    field: [...path, key].join('.'),
    message: 'there is no such field',
  }))
}

/** Returns what `work` returns, or the refusal that it throws. */
export async function attempt<Value>(work: () => Promise<Value>): Promise<Outcome<Value>> {
  try {
    return { kind: 'done', value: await work() }
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal !== undefined) return refusal
    throw error
  }
}

/** Returns the value. Throws where the operation was refused: for callers whose input is their own. */
export function valueOf<Value>(outcome: Outcome<Value>): Value {
  if (outcome.kind === 'done') return outcome.value
  throw new GatewayError(outcome.code, outcome.message)
}

/** Undefined for a fault of our own. Storage and the operating system refuse with exceptions too. */
export function refusalOf(error: unknown): OperationRefusal | undefined {
  if (error instanceof RefusedError) return error.refusal
  const known = explainSystemError(error) ?? error
  if (!(known instanceof GatewayError) || known.origin !== 'client') return undefined
  return { kind: 'refusal', code: known.code, message: known.message }
}

/** Ends the work of an operation; it never leaves this room. */
class RefusedError extends Error {
  readonly refusal: OperationRefusal

  constructor(refusal: OperationRefusal) {
    super(refusal.message)
    this.name = 'RefusedError'
    this.refusal = refusal
  }
}

function refusalOfFields(fields: readonly FieldMistake[]): OperationRefusal {
  const message = fields
    .map(({ field, message: text }) => (field === '' ? text : `${field}: ${text}`))
    .join('; ')
  return { kind: 'refusal', code: 'operations.invalid', message, fields }
}

/** Refuses with the words of a refusal that another room has made. */
export function refusedAs(refusal: Refusal): Error {
  return new RefusedError(refusal)
}

function refused(
  code: ErrorCode,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): Error {
  return new RefusedError({
    kind: 'refusal',
    code,
    message,
    ...(details === undefined ? {} : { details }),
  })
}

/** Refuses one field of the input for a reason that its schema cannot know. */
export function invalidField(field: string, message: string): Error {
  return invalidFields([{ field, message }])
}

export function invalidFields(fields: readonly FieldMistake[]): Error {
  return new RefusedError(refusalOfFields(fields))
}

export function invalid(message: string): Error {
  return refused('operations.invalid', message)
}

/** Refuses a file that has mistakes; `mistakes` lists each for programs. */
export function invalidFile(message: string, mistakes: readonly unknown[]): Error {
  return refused('operations.invalid', message, { mistakes })
}

export function notFound(message: string): Error {
  return refused('operations.not_found', message)
}

export function preconditionFailed(): Error {
  return refused(
    'operations.precondition_failed',
    'It has changed since you read it. Nothing was changed. Read it again, and decide again.',
  )
}

/** Refuses a change of what others have changed since; `changes` lists what and by whom. */
export function changedMeanwhile(message: string, changes: readonly unknown[]): Error {
  return refused('operations.precondition_failed', message, { changes })
}

/** Refuses a credential that a vendor does not take; `test` says what came back. */
export function credentialRefused(message: string, test: object): Error {
  return refused('operations.credential_refused', message, { test })
}

/** Refuses what the actor's role does not allow for this input. */
export function roleInsufficient(message: string): Error {
  return refused('access.role_insufficient', message)
}

export function conflict(message: string): Error {
  return refused('operations.conflict', message)
}

/** Refuses a probable mistake; the same input with `confirm: true` is accepted. */
export function confirmationRequired(message: string): Error {
  return new RefusedError({
    kind: 'refusal',
    code: 'operations.confirmation_required',
    message: `${message} Nothing was booked.`,
    fields: [{ field: 'confirm', message: 'must be true to book this amount' }],
  })
}

/** A moment as results show it. */
export function timeText(atMs: number): string {
  return new Date(atMs).toISOString()
}

export function timeOrNull(atMs: number | undefined): string | null {
  return atMs === undefined ? null : timeText(atMs)
}
