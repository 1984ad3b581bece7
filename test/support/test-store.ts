/**
 * Which engine the stores of a test file are on: SQLite, unless the file was loaded by one that has
 * chosen PostgreSQL before. So one set of tests runs on both, and each says the same of both.
 */
import { join } from 'node:path'
import { after } from 'node:test'
import type { Database } from '../../src/storage/database.ts'
import { openStore } from '../../src/storage/open.ts'
import { startPostgres } from './postgres.ts'

/** Makes an empty store and tells where it is, as settings are written. */
type NewStore = (folder: string) => Promise<string>

let isServer = false
let newStore: NewStore = (folder) => Promise.resolve(`sqlite:${join(folder, 'turnpike.db')}`)

/** From here on every store of this test process is a database of one new server. */
export async function useStoresOnPostgres(): Promise<void> {
  const server = await startPostgres()
  after(() => server.close())
  newStore = () => server.createStore()
  isServer = true
}

export function isOnPostgres(): boolean {
  return isServer
}

export function newStoreUrl(folder: string): Promise<string> {
  return newStore(folder)
}

export async function openNewStore(folder: string): Promise<Database> {
  return openStore(await newStoreUrl(folder))
}
