/** A new customer from the sign-up to the printed receipt, by clicking alone. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { words as english } from '../../console/src/messages/en/account-words.ts'
import { words as chinese } from '../../console/src/messages/zh-cn/account-words.ts'
import { startCustomer, type Customer } from '../support/console/customer-run.ts'
import { variants } from '../support/variants.ts'

let customer: Customer

before(async () => {
  customer = await startCustomer()
})
after(() => customer.close())

const languages = [
  ['en-GB', english],
  ['zh-CN', chinese],
] as const

for (const [language, words] of variants(languages, ([name]) => name === 'en-GB'))
  test(`a customer needs no operator, in ${language}`, async () => {
    const name = `northwind-${language}`
    const email = `ann-${language.toLowerCase()}@northwind.example`
    const printed = await customer.run({ language, words, name, email })
    // 20 USD contain 19 % of their net amount.
    for (const text of ['Acme AI', '1 Main Street', name, '$16.81', '$3.19', '$20.00'])
      assert.ok(printed.includes(text), printed)
  })
