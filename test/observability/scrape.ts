/** A gateway that has done a bit of everything, and a reader of what /metrics shows of it. */
import { createAdminToken } from '../support/operations.ts'
import { send } from '../support/http-client.ts'
import { bodyFormats, formsOf, messagesRequest } from '../support/requests.ts'
import type { Scenario } from '../support/scenario.ts'

/** The series of one metric. */
export interface ScrapedMetric {
  readonly type: string
  readonly labels: ReadonlySet<string>
}

/** Sends answers of every kind, failovers, refusals and failed sign-ins. */
export async function doOfEverything(gateway: Scenario): Promise<void> {
  const { url, account } = gateway
  for (const format of bodyFormats)
    for (const isStream of formsOf(format)) await gateway.ask({ format, isStream })
  gateway.sandbox.faults.set('alpha-main', 'status=500')
  for (let count = 0; count < 6; count++)
    await gateway.ask({ format: 'messages', isStream: false, marker: `failover-${count}` })
  gateway.sandbox.faults.clear()
  await gateway.ask({ format: 'chat', isStream: true, sandbox: 'output=20; cut_event=4' })
  await gateway.ask({ format: 'messages', isStream: false, model: 'unknown' })
  const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' }
  await send(`${url}/alpha/v1/models`, { headers })
  const { max_tokens: _, ...counted } = messagesRequest()
  await send(`${url}/alpha/v1/messages/count_tokens`, { headers, body: JSON.stringify(counted) })
  await send(`${url}/v1/usage`, { headers: { authorization: 'Bearer ro_unknown' } })
  await gateway.ask({ format: 'chat', isStream: false, key: 'cr_unknown' })
}

/** Returns a function that reads `/metrics`. */
export async function openScraper({ adminUrl, context }: Scenario): Promise<() => Promise<string>> {
  const { secret } = await createAdminToken(context, { name: 'scraper', role: 'viewer' })
  const headers = { authorization: `Bearer ${secret}` }
  return async () => (await send(`${adminUrl}/metrics`, { headers })).text
}

/** Returns the metrics of a scrape by the names that queries use: a histogram's series each have one. */
export function readScrape(text: string): ReadonlyMap<string, ScrapedMetric> {
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  )
  const metrics = new Map<string, { type: string; labels: Set<string> }>()
  for (const [name, type] of types)
    for (const series of type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''])
      metrics.set(name + series, { type, labels: new Set() })
  for (const [, name = '', labels = ''] of text.matchAll(/^([a-z_0-9]+)(?:\{(.*)\})? \S+$/gm))
    for (const [, label = ''] of labels.matchAll(/([a-z_]+)="/g))
      metrics.get(name)?.labels.add(label)
  return metrics
}
