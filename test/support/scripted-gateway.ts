/**
 * A gateway whose every channel leads to one scripted vendor, for all tests of a file: open when the
 * file goes on, closed after its last test.
 */
import { after } from 'node:test'
import { demoCatalogueText } from '../../src/sandbox/demo.ts'
import { startGateway, type Gateway, type TestAccount } from './gateway.ts'
import { startScriptedVendor, type ScriptedVendor } from './scripted-vendor.ts'

export interface ScriptedGateway {
  readonly vendor: ScriptedVendor
  readonly gateway: Gateway
  readonly account: TestAccount
}

/** `catalogue`: made for the vendor's address; the demo's unless given. */
export async function openScriptedGateway(
  catalogue: (vendorUrl: string) => string = demoCatalogueText,
  settings: Readonly<Record<string, string>> = {},
): Promise<ScriptedGateway> {
  const vendor = await startScriptedVendor()
  const gateway = await startGateway({ catalogue: () => catalogue(vendor.url), settings })
  after(async () => {
    await gateway.close()
    await vendor.close()
  })
  return { vendor, gateway, account: await gateway.createAccount({ balance_usd: '1000' }) }
}
