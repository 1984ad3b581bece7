/** What is worth knowing about a catalogue that is to be applied, and not wrong. */
import { inTurns } from '../../base/turns.ts'
import { readCredentialFile } from '../../channels/credential-file.ts'
import type { CatalogueRows } from '../../channels/channel-store.ts'
import { credentialPath, credentialVariable, referencesOf } from '../../channels/snapshot.ts'
import type { OperationContext } from '../operation.ts'
import type { DemoAccess } from './demo.ts'
import { namesPerTurn, type Catalogue } from './review.ts'

export function demoNotes({ accounts }: DemoAccess): readonly string[] {
  return accounts.map(
    ({ name }) =>
      `the account ${name} and its keys were made for the demo, and end with its catalogue; to keep it: ` +
      `turnpike account resume ${name}, then turnpike key create ${name}`,
  )
}

export async function findNotes(
  context: OperationContext,
  stored: CatalogueRows,
  catalogue: Catalogue,
): Promise<readonly string[]> {
  const notes: string[] = []
  const priced = new Set(stored.prices.map((row) => row.model))
  const channels = [...catalogue.channels]
  const served = new Set(channels.flatMap(([, channel]) => [...channel.models.keys()]))
  await inTurns(catalogue.models, namesPerTurn, ([id, model]) => {
    if (model.prices === undefined && !priced.has(id))
      notes.push(`model ${id} has no price; it is served when it has one`)
    const hasNoOutput = model.prices?.some(({ prices }) => prices.classes.output === undefined)
    if (hasNoOutput === true && model.operations === undefined)
      notes.push(`model ${id} has no output price; it serves nothing but embeddings`)
    if (!served.has(id)) notes.push(`model ${id} has no channel; requests for it are refused`)
  })
  const references = channels.flatMap(([name, entry]) =>
    referencesOf(entry).map((reference) => ({ name, reference })),
  )
  for (const { name, reference } of references) {
    const variable = credentialVariable(reference)
    if (variable !== undefined && (context.environment(variable) ?? '') === '')
      notes.push(
        `channel ${name}: ${variable} is not set here; the gateway needs it to use the channel`,
      )
    const path = credentialPath(reference)
    const fault = path === undefined ? undefined : readCredentialFile(path).fault
    if (path !== undefined && fault !== undefined)
      notes.push(`channel ${name}: ${path} ${fault} here; the gateway needs it to use the channel`)
  }
  return notes
}
