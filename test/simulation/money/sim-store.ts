/**
 * The store of a simulation: the production schema and the production writer on SQLite in memory,
 * without a thread. Messages to and from the writer wait in two queues until the simulation lets the
 * next one through, so that everything else can happen while a charge is on its way, a crash included.
 */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import type {
  OpenWriter,
  WriterAnswer,
  WriterQuestion,
} from '../../../src/ledger/embedded/writer.ts'
import { indexOf } from '../../../src/ledger/exchange-row.ts'
import { StoreWriter } from '../../../src/ledger/embedded/store-writer.ts'
import { credit } from '../../../src/ledger/entry-store.ts'
import { findBilledExchanges, refund } from '../../../src/ledger/refund-store.ts'
import { picos } from '../../../src/base/money.ts'
import type { Database, Row } from '../../../src/storage/database.ts'
import { readSchemaFiles } from '../../../src/storage/schema-files.ts'
import { SerialDatabase } from '../../../src/storage/sqlite/sqlite.ts'
import { SqliteConnection } from '../../../src/storage/sqlite/connection.ts'

/** What the next batch meets. */
export type StoreFault =
  | 'none'
  /** No space: nothing of the batch is booked. */
  | 'full'
  | 'busy'
  /** The disk fails; whether the batch is booked cannot be known from the answer. */
  | 'broken_before'
  | 'broken_after'

const { baseSql } = readSchemaFiles('sqlite')

export interface ChargeRow {
  readonly exchangeId: string
  readonly amountPicos: bigint
  readonly vendorRequestId: string | undefined
  readonly marks: string
}

export interface BalanceRow {
  readonly accountId: string
  readonly balancePicos: bigint
  readonly entriesPicos: bigint
}

type LimitName = 'dailyPicos' | 'monthlyPicos'

interface Asked<Question = WriterQuestion> {
  readonly question: Question
  readonly answered: (answer: WriterAnswer) => void
  readonly reject: (error: Error) => void
}

interface Told {
  readonly asked: Asked
  readonly answer: WriterAnswer
  /** Exchanges that are durable and acknowledged once this has been delivered. */
  readonly bookedIds: readonly string[]
}

export class SimStore {
  readonly database: Database
  /** Called as an answer that acknowledges these exchanges is delivered. */
  onAcknowledged: (exchangeIds: readonly string[]) => void = () => undefined
  /** Called after a batch has been booked, acknowledged or not. */
  onBooked: () => void = () => undefined
  /** Booked by a disk that then failed: their clients learn only that it is unknown. */
  readonly unknowableIds = new Set<string>()
  #fault: StoreFault = 'none'
  #creditCount = 0
  readonly #connection = new SqliteConnection(new DatabaseSync(':memory:', { readBigInts: true }))
  #writer: StoreWriter | undefined
  #toStore: Asked[] = []
  #fromStore: Told[] = []

  constructor() {
    this.#connection.script(baseSql)
    const connection = this.#connection
    this.database = new SerialDatabase({
      run: async (sql, parameters) => connection.all(sql, parameters),
      script: async (sql) => connection.script(sql),
      rollBack: async () => connection.rollBack(),
      close: async () => connection.close(),
    })
  }

  /** For one ledger; whatever an earlier one still had under way is gone. */
  readonly openWriter: OpenWriter = () => {
    const writer = new StoreWriter(this.#connection)
    this.#writer = writer
    this.#toStore = []
    this.#fromStore = []
    return {
      ask: (question, _moved, use) =>
        new Promise((resolve, reject) => {
          const answered = (answer: WriterAnswer): void => {
            use?.(answer)
            resolve(answer)
          }
          if (question.kind === 'open')
            queueMicrotask(() => answered({ kind: 'done', value: undefined }))
          // A process that has been killed says nothing more.
          else if (this.#writer === writer) this.#toStore.push({ question, answered, reject })
        }),
      end: async () => {
        if (this.#writer !== writer) return
        const waiting = [...this.#fromStore.map(({ asked }) => asked), ...this.#toStore]
        this.#toStore = []
        this.#fromStore = []
        for (const { reject } of waiting) reject(new Error('the thread was ended'))
      },
    }
  }

  get hasMessages(): boolean {
    return this.#toStore.length > 0
  }

  get hasAnswers(): boolean {
    return this.#fromStore.length > 0
  }

  get fault(): StoreFault {
    return this.#fault
  }

  /** Lasts until it is set again. */
  setFault(fault: StoreFault): void {
    this.#fault = fault
  }

  /** The writer takes one message: a batch is durable after this, though no acknowledgement has left. */
  takeMessage(): void {
    const asked = this.#toStore.shift()
    const writer = this.#writer
    if (asked === undefined || writer === undefined) return
    const { question } = asked
    if (question.kind === 'close') return asked.answered({ kind: 'done', value: undefined })
    if (question.kind === 'settle' && this.#fault !== 'none')
      return this.#failBatch({ ...asked, question }, writer)
    const answer = writer.handle(question)
    if (answer instanceof Promise) throw new Error('a simulated exchange asks for no figures')
    const bookedIds =
      question.kind === 'settle' ? question.exchanges.map(({ row }) => row[indexOf.exchangeId]) : []
    this.#fromStore.push({ asked, answer, bookedIds })
    if (question.kind === 'settle') this.onBooked()
  }

  /** The ledger hears one answer. */
  giveAnswer(): void {
    const told = this.#fromStore.shift()
    if (told === undefined) return
    const { asked, answer, bookedIds } = told
    if (asked.question.kind === 'settle' && answer.kind === 'done') this.onAcknowledged(bookedIds)
    asked.answered(answer)
  }

  /** What an operator does beside the running gateway. */
  async credit(accountId: string, amountPicos: bigint, atMs: number): Promise<void> {
    const reference = `top-up ${++this.#creditCount}`
    await this.database.transact((transaction) =>
      credit(transaction, {
        accountId,
        kind: 'credit',
        amountPicos: picos(amountPicos),
        reference,
        atMs,
      }),
    )
  }

  /** Gives back a part of a charge, where it has not been refunded yet. */
  async refund(exchangeId: string, share: number, atMs: number): Promise<boolean> {
    return this.database.transact(async (transaction) => {
      const [exchange] = await findBilledExchanges(transaction, exchangeId)
      assert.ok(exchange !== undefined)
      const part = (exchange.chargePicos * BigInt(Math.floor(share * 1_000))) / 1_000n
      const amountPicos = picos(part === 0n ? exchange.chargePicos : part)
      const { kind } = await refund(transaction, { exchange, amountPicos, atMs })
      return kind === 'booked'
    })
  }

  /** Every charge there is, with what its exchange's row says of it. */
  charges(): readonly ChargeRow[] {
    const rows = this.#connection.all(
      `SELECT entry.reference, -entry.amount_picos AS amount, vendor_request_id, marks
         FROM entry LEFT JOIN exchange ON exchange_id = reference WHERE entry.kind = 'charge'`,
    )
    return rows.map((row) => ({
      exchangeId: String(row['reference']),
      amountPicos: bigintOf(row, 'amount'),
      vendorRequestId:
        row['vendor_request_id'] === null ? undefined : String(row['vendor_request_id']),
      marks: String(row['marks']),
    }))
  }

  limitsOf(accountId: string): Readonly<Record<'creditLinePicos' | LimitName, bigint>> {
    const sql = 'SELECT * FROM account WHERE id = $1'
    const [row = {}] = this.#connection.all(sql, [accountId])
    return {
      creditLinePicos: bigintOf(row, 'credit_line_picos'),
      dailyPicos: bigintOf(row, 'daily_limit_picos'),
      monthlyPicos: bigintOf(row, 'monthly_limit_picos'),
    }
  }

  /** The account to which a stored response belongs. */
  ownerOf(responseId: string): string | undefined {
    const sql = `SELECT account_id FROM answer_state WHERE id = $1 AND kind = 'response'`
    const [row] = this.#connection.all(sql, [responseId])
    return row === undefined ? undefined : String(row['account_id'])
  }

  /**
   * Charges less their refunds, of an account or a key. `period` is the beginning of the days on which the
   * exchanges ended: `2026-11-21`, `2026-11`, or empty for all time.
   */
  usedBy(owner: string, period = ''): bigint {
    const [row] = this.#connection.all(
      `SELECT COALESCE(SUM(entry.amount_picos), 0) AS amount FROM exchange
         JOIN entry ON reference IN (exchange_id, 'refund:' || exchange_id)
        WHERE (key_id = $1 OR exchange.account_id = $1)
          AND date(ended_at_ms / 1000, 'unixepoch') LIKE $2`,
      [owner, `${period}%`],
    )
    return row === undefined ? 0n : -bigintOf(row, 'amount')
  }

  balances(): readonly BalanceRow[] {
    const rows = this.#connection.all(
      `SELECT id, balance_picos,
              (SELECT COALESCE(SUM(amount_picos), 0) FROM entry WHERE account_id = id) AS entries
         FROM account`,
    )
    return rows.map((row) => ({
      accountId: String(row['id']),
      balancePicos: bigintOf(row, 'balance_picos'),
      entriesPicos: bigintOf(row, 'entries'),
    }))
  }

  #failBatch(asked: Asked<Extract<WriterQuestion, { kind: 'settle' }>>, writer: StoreWriter): void {
    const kind = this.#fault
    if (kind === 'broken_after') {
      for (const { row } of asked.question.exchanges)
        this.unknowableIds.add(row[indexOf.exchangeId])
      void writer.handle(asked.question)
      this.onBooked()
    }
    const fault = kind === 'full' || kind === 'busy' ? kind : 'broken'
    const error = new Error(`simulated: ${kind}`)
    this.#fromStore.push({ asked, answer: { kind: 'failed', fault, error }, bookedIds: [] })
  }

  close(): void {
    this.#connection.close()
  }
}

function bigintOf(row: Row, column: string): bigint {
  const value = row[column]
  assert.ok(typeof value === 'bigint' || typeof value === 'number')
  return BigInt(value)
}
