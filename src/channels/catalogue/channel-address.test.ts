/** Channel addresses: what operators may write, and that the refusal never repeats a secret. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { urlFault } from './channel-address.ts'

test('addresses of vendors and of private networks are accepted', () => {
  for (const url of [
    'https://vendor.example',
    'https://vendor.example:8443/openai',
    'https://vendor.example/v1',
    'http://127.0.0.1:9100',
    'http://localhost:9100/',
    'http://[::1]:9100',
    'http://10.1.2.3',
    'http://192.168.0.7:8000',
    'http://model-server:8000',
    'http://vllm.internal',
    'http://[fd00::1]/',
    'http://[::ffff:127.0.0.1]',
  ])
    assert.equal(urlFault(url), undefined, url)
})

test('what cannot be meant is refused with the reason', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['vendor.example', /web address/],
    ['', /web address/],
    ['ftp://vendor.example', /https/],
    ['file:///etc/passwd', /https/],
    ['https://user:hunter2@vendor.example', /user name/],
    ['https://vendor.example/?key=hunter2', /query/],
    ['https://vendor.example/?', /query/],
    ['https://vendor.example/#x', /fragment/],
    ['https://vendor.example/v1/messages', /before the path/],
    ['https://vendor.example/openai/v1/chat/completions/', /before the path/],
    ['http://vendor.example', /plain text/],
    ['http://8.8.8.8', /plain text/],
    ['http://169.254.169.254', /link-local/],
    ['https://[fe80::1]', /link-local/],
    ['http://0.0.0.0:9100', /unspecified/],
    ['http://0xa9fea9fe/', /link-local/],
  ]
  for (const [url, expected] of cases) {
    const fault = urlFault(url) ?? ''
    assert.match(fault, expected, url)
    assert.ok(!fault.includes('hunter2'))
  }
})
