/** Alerts in the language of the page. */
import { said, type Facts } from '../messages/t.ts'

interface Told {
  readonly kind: string
  readonly title: string
  readonly facts: Facts
}

export function titled<One extends Told>(one: One): One {
  return { ...one, title: said(`alerts.${one.kind}.title`, one.title, one.facts) }
}

interface Alert extends Told {
  readonly text: string
  readonly includes: readonly Told[]
}

export function inWords<One extends Alert>(alert: One): One {
  return {
    ...titled(alert),
    text: said(`alerts.${alert.kind}.text`, alert.text, alert.facts),
    includes: alert.includes.map(titled),
  }
}
