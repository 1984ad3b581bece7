/** A store refuses a program whose migrations differ from those that it has applied, comments included. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const folder = join(import.meta.dirname, '../../src/storage/migrations')

/** MD5 of each file, as the stores have recorded it. A new migration adds a line; no line ever changes. */
const shipped: Readonly<Record<string, string>> = {
  'sqlite/001.do.initial.sql': 'b6dcc0db3ef47e04c41dfb1eab20394e',
  'sqlite/002.do.channel-health.sql': 'd77c21f9bc60b16d8d72cd4defa45dd6',
  'sqlite/003.do.channel-history.sql': 'd576ae173948c3d0826b8dcdc5c12af3',
  'sqlite/004.do.books.sql': '5dce9bba085952cc1888e665de9d03d2',
  'sqlite/006.do.first-event-limits.sql': '86c4f053f8e8db3c99052b0adb3f6e9f',
  'sqlite/007.do.unclean-stops.sql': '9299dd14261face94d917f6ed2dc1e6b',
  'sqlite/008.do.token-counts.sql': 'f794f80207b6eaa5b7f155ceaf7b7585',
  'sqlite/009.do.input-limit.sql': 'c6946abe8c881de54878a8a3fddb9762',
  'sqlite/012.do.unlisted-proxies.sql': '475fc7634134c75e3ec07a2e07e59863',
  'sqlite/014.do.ping-limits.sql': 'f501cfa5c476b40a2b5ae43951393d22',
  'sqlite/015.do.check-answers.sql': 'ea412efbc3aa78e1047ca0f66de44d98',
  'sqlite/016.do.answer-states.sql': '584e49875ec4a032499ababf22fcdee9',
  'sqlite/017.do.model-operations.sql': 'f3c14a5309fe1e5ea923fd009908943a',
  'sqlite/018.do.admin-api.sql': 'e868283d8628c0677dcc6833bdf82453',
  'sqlite/019.do.alerts.sql': 'a6649f2d9cce2474a2c6ef95d8cfe648',
  'sqlite/020.do.settled-figures.sql': '44ca39d2dead7788238f4be6ad6586d2',
  'sqlite/021.do.free-exchanges.sql': '193500b6140711e9820ba2eaf1711f73',
  'sqlite/022.do.cost-prices.sql': 'b56b8d8856c7e01a598c40fd21dfe82c',
  'sqlite/023.do.limits.sql': '9460d31afb7e62dcf8c99e64d17e150e',
  'sqlite/024.do.accounts.sql': '27ec736099a4d610fc8ff18e55cadf63',
  'sqlite/026.do.withheld-charges.sql': '9f48a01cd893e2498f8edeb6b1c8e75e',
  'sqlite/028.do.reports.sql': '7d90d4cfae28e2bf53a30e4391934214',
  'sqlite/025.do.audits-events.sql': '819c26c266b443ed8ac8e2db6923b7c7',
  'postgres/001.do.initial.sql': '11c4753e8c5482c94bc962711bbacc3c',
  'postgres/002.do.channel-health.sql': '6cdd77db900be5bf21bb506da6434dd3',
  'postgres/003.do.channel-history.sql': 'cbd2959ead29614a67ecd216362779cf',
  'postgres/004.do.books.sql': 'fb3e31c16acac2bae2d38f1d1b1e845c',
  'postgres/006.do.first-event-limits.sql': 'd0e6578b3752e75d8f2163a5c8ff57b6',
  'postgres/007.do.unclean-stops.sql': 'c37a32913610639166684f7af59d6279',
  'postgres/008.do.token-counts.sql': 'b50388e9ae07add264788a5d3647f8c1',
  'postgres/009.do.input-limit.sql': 'bb5068f9cbe6d45680f058a1294b4198',
  'postgres/012.do.unlisted-proxies.sql': '475fc7634134c75e3ec07a2e07e59863',
  'postgres/014.do.ping-limits.sql': 'e967a09604214fb18eacab779e3a8262',
  'postgres/015.do.check-answers.sql': '9667c208549a11807e3bd34b7651757e',
  'postgres/016.do.answer-states.sql': '88d8585b07c1133f45d33855642ad2b0',
  'postgres/017.do.model-operations.sql': 'f3c14a5309fe1e5ea923fd009908943a',
  'postgres/018.do.admin-api.sql': 'c2e6060524c2efaf93ac1ccfef74e5ef',
  'postgres/019.do.alerts.sql': '3a921c29a236f989f5a5be4b7608deae',
  'postgres/020.do.settled-figures.sql': 'ea6b49a46d1db660b01dccc016895003',
  'postgres/021.do.free-exchanges.sql': '23b2eb2bed03c96fb3733bd63f3e155d',
  'postgres/022.do.cost-prices.sql': 'b56b8d8856c7e01a598c40fd21dfe82c',
  'postgres/023.do.limits.sql': 'a5f18b137e9f3c579509037c653ba06e',
  'postgres/024.do.accounts.sql': '6b5a03f9e61baffa481d8d3894463211',
  'postgres/026.do.withheld-charges.sql': 'c9584d13447bd1db6d018689400c252c',
  'postgres/028.do.reports.sql': '974a0b98c9f639749a4d8809534fee7a',
  'postgres/025.do.audits-events.sql': '71358f1f2dae435d1c85df51a8fede9b',
  'sqlite/029.do.sessions.sql': 'af6d95d59dc92718aab47f3fec18486d',
  'postgres/029.do.sessions.sql': '869ff9b29cde86245b292b3bc0929fe7',
  'sqlite/030.do.node-versions.sql': 'c55e7f13a7e31c51c4aa0ee7f1ca6fdf',
  'postgres/030.do.node-versions.sql': 'dab2c2b78fab5dafe27041293878803e',
  'sqlite/031.do.report-order.sql': 'b354fa0384e5bb8c56ae0800e2465be8',
  'postgres/031.do.report-order.sql': '7dea87cce9dba9c498d49cb8adfebf95',
  'sqlite/032.do.narrow-rows.sql': 'b5f5141919ee101eb4779b3a3c157e9e',
  'postgres/032.do.narrow-rows.sql': 'b6e3f340182e114d2a0aa01d8c946f5d',
}

test('migrations that stores have applied are never edited', () => {
  const found = ['sqlite', 'postgres'].flatMap((engine) =>
    readdirSync(join(folder, engine)).map((name) => {
      const text = readFileSync(join(folder, engine, name))
      return [`${engine}/${name}`, createHash('md5').update(text).digest('hex')]
    }),
  )
  assert.deepEqual(Object.fromEntries(found), shipped)
})
