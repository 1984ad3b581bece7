/** `turnpike note …`: what operators note about accounts, keys and channels. */
import { noteEndpoints } from '../../operations/notes/endpoints.ts'
import { callRow, listRow, type CommandRow } from '../row.ts'

export const noteCommands: readonly CommandRow[] = [
  listRow(noteEndpoints.list, { words: 'note list', empty: 'There are no notes.' }),
  callRow(noteEndpoints.add, {
    words: 'note add',
    arguments: ['text'],
    help: `Example:
  turnpike note add "Pays by invoice, 30 days." --account acme`,
  }),
  callRow(noteEndpoints.remove, { words: 'note delete', show: () => 'The note is deleted.' }),
]
