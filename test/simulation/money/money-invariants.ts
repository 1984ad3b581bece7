/**
 * What must be true of money after every step of a simulation, and the three-way join when all has
 * come to rest. Each rule trusts the clients' and the vendors' records and the store's rows, never
 * what the ledger says of itself alone.
 */
import assert from 'node:assert/strict'
import { audit } from '../../../src/ledger/audit/audit.ts'
import { readBill } from '../../../src/metering/price-lines.ts'
import { checkPassed, checkPlaced, checkRoomAtRest, type Left } from './limit-invariants.ts'
import type { MoneyWorld } from './money-world.ts'
import type { SimClient } from './sim-client.ts'
import type { ChargeRow } from './sim-store.ts'
import { vendorPrice, type VendorRecord } from './sim-vendor.ts'

export class MoneyInvariants {
  readonly #world: MoneyWorld
  /** Charges of the store as of the last look, by the vendor's call. */
  #charges: ReadonlyMap<string, ChargeRow> = new Map()
  readonly #ended = new Set<number>()
  /** By exchange. */
  readonly #left = new Map<string, Left>()
  readonly #passed = new Map<string, bigint>()
  #isStoreChanged = true

  constructor(world: MoneyWorld) {
    this.#world = world
    world.store.onBooked = () => void (this.#isStoreChanged = true)
    world.holds.onPlaced = (request) =>
      void this.#left.set(request.exchangeId, checkPlaced(world, request))
  }

  get chargeCount(): number {
    return this.#charges.size
  }

  /** After each step. */
  check(): void {
    const world = this.#world
    assert.deepEqual(world.faults, [])
    const { count, heldPicos } = world.ledger.openHolds()
    assert.equal(count, world.holds.count, 'open holds')
    assert.equal(heldPicos, world.holds.heldPicos, 'held = the sum of open holds')
    if (this.#isStoreChanged) this.#readStore()
    for (const client of world.clients) {
      if (this.#ended.has(client.request.number) || !client.hasEnd) continue
      this.#ended.add(client.request.number)
      if (client.request.isDeletion === true) this.#assertOwn(client)
      else this.#assertPaid(client.request.number)
      const { responseId } = client
      if (responseId !== undefined)
        assert.equal(
          world.store.ownerOf(responseId),
          world.accountOf(client),
          'its state is stored',
        )
    }
  }

  /** When nothing runs any more. */
  async checkAtRest(): Promise<void> {
    const world = this.#world
    await checkRoomAtRest(world)
    this.#readStore()
    assert.deepEqual(world.ledger.openHolds(), { count: 0, heldPicos: 0n })
    const report = await audit(world.store.database, { readBill })
    assert.deepEqual(report.differences, [])
    for (const record of world.vendors.records) this.#assertPinned(record)
    for (const [callId, row] of this.#charges) {
      const record = world.vendors.records.find((candidate) => candidate.callId === callId)
      assert.ok(record !== undefined, `${callId} was charged and never served`)
      assertWithinPrice(record, row)
      if (world.store.unknowableIds.has(row.exchangeId)) continue
      const { isRefused } = world.clients[record.client] ?? {}
      assert.equal(isRefused, false, `client ${record.client} was refused and is charged`)
    }
  }

  /** Only the account that has made a response gets something for its id. */
  #assertOwn(client: SimClient): void {
    const { number, earlierId } = client.request
    const maker = this.#world.clients.find(({ responseId }) => responseId === earlierId)
    assert.ok(maker !== undefined)
    assert.equal(
      this.#world.accountOf(client),
      this.#world.accountOf(maker),
      `client ${number} reaches a foreign response`,
    )
  }

  /** A request that names a response has reached only the channel that holds it. */
  #assertPinned({ client, channel, earlierId }: VendorRecord): void {
    const { clients, vendors } = this.#world
    const asked = clients[client]
    if (earlierId === undefined || asked === undefined) return
    this.#assertOwn(asked)
    const made = vendors.records.find(({ callId }) => `resp_${callId}` === earlierId)
    assert.equal(channel, made?.channel, `client ${client} is served by another vendor account`)
  }

  #readStore(): void {
    this.#isStoreChanged = false
    const { store, holds } = this.#world
    const charges = new Map<string, ChargeRow>()
    const clients = new Set<number>()
    for (const row of store.charges()) {
      const callId = row.vendorRequestId ?? ''
      assert.ok(!charges.has(callId), `${callId} is charged twice`)
      charges.set(callId, row)
      const client = this.#world.vendors.records.find((record) => record.callId === callId)?.client
      assert.ok(client !== undefined && !clients.has(client), `client ${client} is charged twice`)
      clients.add(client)
      const heldPicos = holds.placedById.get(row.exchangeId)
      assert.ok(heldPicos !== undefined, `${row.exchangeId} is charged without a hold`)
      assert.ok(row.amountPicos <= heldPicos, `${row.exchangeId} costs more than was held`)
      this.#notePassed(row)
    }
    for (const { accountId, balancePicos, entriesPicos } of store.balances()) {
      assert.equal(balancePicos, entriesPicos, `balance of ${accountId} = the sum of its entries`)
    }
    checkPassed(this.#world, this.#passed)
    this.#charges = charges
  }

  #notePassed({ exchangeId, amountPicos }: ChargeRow): void {
    for (const [owner, left] of this.#left.get(exchangeId) ?? []) {
      const most = this.#passed.get(owner) ?? 0n
      if (amountPicos - left > most) this.#passed.set(owner, amountPicos - left)
    }
  }

  /** A client has just seen the end of its answer: by now its charge is in the store. */
  #assertPaid(number: number): void {
    const records = this.#world.vendors.records.filter(({ client }) => client === number)
    const told = records.filter(({ isTold }) => isTold)
    assert.ok(told.length > 0, `client ${number} has an end that no vendor sent`)
    const paid = told.filter(({ callId }) => this.#charges.has(callId))
    const isFree = told.some(({ format, counts }) => counts.output === 0 && format !== 'embeddings')
    if (isFree && paid.length === 0) return
    const [record] = paid
    assert.ok(record !== undefined, `client ${number} has an answer that is not charged`)
    const row = this.#charges.get(record.callId)
    assert.ok(row !== undefined)
    if (record.hasUsage) assert.equal(row.amountPicos, vendorPrice(record), `client ${number}`)
    else assert.ok(row.marks.includes('estimated'), `client ${number}`)
  }
}

/** At most what the whole answer costs, wherever it is the vendor's count that was charged. */
function assertWithinPrice(record: VendorRecord, row: ChargeRow): void {
  if (row.marks.includes('estimated')) return
  assert.ok(row.amountPicos <= vendorPrice(record), `${record.callId} costs ${row.amountPicos}`)
}
