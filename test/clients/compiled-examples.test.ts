/**
 * The examples in Go and Java run as their pages say. Where the machine has no usable toolchain,
 * they are reported as not run.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startClientRig, type ClientRig } from './support/client-rig.ts'
import { refuseExample, runExample } from './support/example.ts'
import { prepareGo, prepareJava, type Toolchain } from './support/toolchains.ts'

/** A whole answer, a stream, and a tool call with its result. */
const chatLines = /^whole: .*Good morning.*\nstream: .*Good evening.*\n(tool: .*simulated.*\n)+$/

const goCommands = ['go run ./anthropic', 'go run ./openai']
describeExamples('go', goCommands, await prepareGo())

const javaCommands = ['AskAnthropic', 'AskOpenai'].map(
  (name) => `java -cp 'target/dependency/*' ${name}.java`,
)
describeExamples('java', javaCommands, await prepareJava())

function describeExamples(name: string, commands: readonly string[], toolchain: Toolchain): void {
  if (toolchain.kind === 'missing') {
    process.stdout.write(`not run: examples/${name}, because ${toolchain.reason}\n`)
    return
  }
  const { env, links } = toolchain
  let rig: ClientRig

  describe(name, () => {
    before(async () => {
      rig = await startClientRig()
    })
    after(() => rig.close())

    for (const command of commands) {
      test(`${command}: every part is answered and charged as served`, async () => {
        assert.match(await runExample(rig, { name, command, env, links }, 4), chatLines)
      })

      test(`${command}: shows what is wrong with a wrong key`, () =>
        refuseExample(rig, { name, command, env, links }))
    }
  })
}
