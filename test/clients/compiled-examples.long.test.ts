/**
 * The examples in Go and Java run as their pages say. Where the machine has no usable toolchain,
 * they are reported as not run.
 */
import { after, before, describe, test } from 'node:test'
import { startClientRig, type ClientRig } from './support/client-rig.ts'
import { refuseExample, runLines, type Printed } from './support/example.ts'
import { prepareGo, prepareJava, type Toolchain } from './support/toolchains.ts'

const chat = ['whole', 'stream', 'tool'] as const
const openai = [...chat, 'response', 'continued', 'embeddings'] as const

describeExamples('go', await prepareGo(), {
  'go run ./anthropic': chat,
  'go run ./openai': openai,
})
describeExamples('java', await prepareJava(), {
  "java -cp 'target/dependency/*' AskAnthropic.java": chat,
  "java -cp 'target/dependency/*' AskOpenai.java": openai,
})

function describeExamples(
  name: string,
  toolchain: Toolchain,
  commands: Readonly<Record<string, readonly Printed[]>>,
): void {
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

    for (const [command, lines] of Object.entries(commands)) {
      test(`${command}: every part is answered and charged as served`, () =>
        runLines(rig, { name, command, env, links }, lines))

      test(`${command}: shows what is wrong with a wrong key`, () =>
        refuseExample(rig, { name, command, env, links }))
    }
  })
}
