import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from 'commander'
import { buildProgram } from './program.ts'

function leavesOf(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(leavesOf)]
}

test('every command, argument and option says what it is', () => {
  const commands = leavesOf(buildProgram({ wantsJson: false }))
  assert.ok(commands.length > 60)
  const silent = commands.flatMap((command) =>
    [command, ...command.registeredArguments, ...command.options]
      .filter((one) => one.description === '' || one.description === undefined)
      .map((one) => `${command.name()}: ${one.name()}`),
  )
  assert.deepEqual(silent, [])
})

test('options are made from the fields of the input', () => {
  const program = buildProgram({ wantsJson: false })
  const create = leavesOf(program).find(
    (one) => one.name() === 'create' && one.parent?.name() === 'key',
  )
  const options = new Map(create?.options.map(({ flags, description }) => [flags, description]))
  assert.equal(
    options.get('--monthly <usd>'),
    'spending limit of this key per calendar month (UTC), in USD; 0 = no limit',
  )
  assert.equal(options.get('--models <models>'), 'allow only these models; separate with commas')
  assert.equal(create?.registeredArguments[0]?.name(), 'account')
})
