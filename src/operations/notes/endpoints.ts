/** Endpoints of the notes about accounts, keys and channels. */
import { endpoints, exampleNames } from '../endpoint.ts'
import { addNote, readNotes, removeNote } from './notes.ts'

export const noteEndpoints = endpoints('notes', {
  list: {
    route: 'GET /notes',
    summary: 'List the notes about an account, a key or a channel, newest first.',
    operation: readNotes,
    example: { account: exampleNames.account },
  },
  add: {
    route: 'POST /notes',
    summary: 'Add a note about an account, a key or a channel.',
    operation: addNote,
    status: 201,
    example: { channel: exampleNames.channel, text: 'The vendor rotates its keys on Mondays.' },
  },
  remove: {
    route: 'DELETE /notes/{note}',
    summary: 'Delete a note.',
    operation: removeNote,
  },
})
