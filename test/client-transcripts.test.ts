/**
 * The transcripts of `test/clients/transcripts` are whole and of the versions that the tests install: each
 * client shows the gateway's own words, ends, and waits for a model that thinks. No client runs here.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import {
  readTranscript,
  sceneNames,
  transcriptFolder,
  writeTranscript,
  type Played,
  type SceneName,
  type Transcript,
} from './clients/support/transcripts/form.ts'
import { listedClients, type ListedClient } from './clients/support/transcripts/list.ts'

const bytesMax = 8_000
const gatewayWords: Partial<Readonly<Record<SceneName, RegExp>>> = {
  'an answer with tools': /\[simulated\]|Connection successful/,
  '401: a wrong key': /Incorrect API key provided/,
  '402: an empty balance': /The balance is too low .*balance 0\.0\d* USD/s,
  '429: the daily limit': /daily limit .*exceeded.*quota will reset at|Quota exceeded/s,
  'a model that thinks for 130 s': /\[simulated\]|Connection successful/,
}

const clients: Readonly<Record<string, ListedClient>> = listedClients

test('every transcript has a client, and every client a transcript', () => {
  const files = readdirSync(transcriptFolder).map((file) => file.replace(/\.md$/, ''))
  assert.deepEqual(files.toSorted(), Object.keys(clients).toSorted())
})

for (const [name, { title, packages }] of Object.entries(clients))
  describe(title, () => {
    const page = readFileSync(join(transcriptFolder, `${name}.md`), 'utf8')
    const transcript = readTranscript(page)

    test('has a small transcript of the version that is installed, in all scenes', () => {
      assert.ok(Buffer.byteLength(page) < bytesMax, `${Buffer.byteLength(page)} bytes`)
      assert.equal(transcript.title, title)
      assert.deepEqual(transcript.packages, packages)
      assert.match(transcript.date, /^\d{4}-\d{2}-\d{2}$/)
      assert.notEqual(transcript.command, '')
      assert.deepEqual([...transcript.scenes.keys()], [...sceneNames])
    })

    for (const scene of sceneNames)
      test(`${scene}: ends, and shows the words of the gateway`, () =>
        checkScene(transcript, scene))

    test('waits for the model that thinks, and asks it once', () => {
      const { answers, exit, seconds } = played(transcript, 'a model that thinks for 130 s')
      assert.equal(exit, '0')
      assert.ok(seconds >= 130, `${seconds} s`)
      assert.ok(answers.every((answer) => !answer.startsWith('cut')))
    })

    test('is refused at requests per minute', () => {
      const { answers } = played(transcript, '429: requests per minute')
      assert.ok(answers.some((answer) => answer.startsWith('429')))
    })

    test('shows no secret and no path of the machine', () => {
      assert.doesNotMatch(page, /\bcr_\w|\/root\/|\/home\/|node_modules/)
    })
  })

function checkScene(transcript: Transcript, scene: SceneName): void {
  const { exit, screen } = played(transcript, scene)
  assert.notEqual(exit, 'killed')
  assert.notEqual(screen, '')
  assert.match(screen, gatewayWords[scene] ?? /./)
}

function played({ scenes }: Transcript, scene: SceneName): Played {
  const found = scenes.get(scene)
  assert.ok(found, `there is no scene ${scene}`)
  return found
}

test('a transcript that is written reads back as it was', () => {
  const scene = { answers: ['529 × 2', '200'], exit: '0', seconds: 7, screen: 'one\ntwo' }
  const transcript: Transcript = {
    title: 'A client',
    packages: [{ name: '@a/b', version: '1.2.3' }],
    date: '2026-11-26',
    command: 'client "Hello"',
    scenes: new Map([['402: an empty balance', scene]]),
  }
  const written = { ...scene, answers: ['529', '529', '200'] }
  const scenes = new Map([['402: an empty balance', written]])
  assert.deepEqual(readTranscript(writeTranscript({ ...transcript, scenes })), transcript)
})
