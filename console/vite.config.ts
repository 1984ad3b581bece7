/**
 * Builds the console and the account page into `built/`, which the gateway serves: the console at
 * /console on the admin listener, the account page at /account on the public one. Both share one
 * folder of assets. `npm run dev` serves the console with hot reload; TURNPIKE_ADMIN is the address of
 * a running admin listener.
 */
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const admin = process.env['TURNPIKE_ADMIN'] ?? 'http://127.0.0.1:8081'
const gateway = process.env['TURNPIKE_GATEWAY'] ?? 'http://127.0.0.1:8080'

function wordsOf(language: string, rooms: string): RegExp {
  return new RegExp(`[\\\\/]messages[\\\\/]${language}[\\\\/](${rooms})\\.ts$`)
}

export default defineConfig({
  plugins: [react()],
  base: '/console/',
  server: { proxy: { '/admin': admin, '/v1': gateway, '/account/operator.json': gateway } },
  experimental: {
    // Scripts load each other by relative addresses, so that both listeners can serve the same files.
    renderBuiltUrl(path, { hostId, hostType }) {
      if (hostType !== 'html') return { relative: true }
      // One page answers every path of the console: a relative address would depend on it.
      return `${hostId === 'account.html' ? '/account/' : '/console/'}${path}`
    },
  },
  build: {
    outDir: 'built',
    manifest: true,
    license: { fileName: 'licences.md' },
    // The content security policy allows no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: ['index.html', 'account.html'],
      output: {
        // A browser asks whether a file has changed, so that a name need not change with its content.
        entryFileNames: 'assets/[name].js',
        chunkFileNames: 'assets/[name].js',
        assetFileNames: 'assets/[name].[ext]',
        minifyInternalExports: false,
        codeSplitting: {
          groups: [
            // What both pages use: nothing of the operators' side is among it.
            {
              name: 'shared',
              test: /node_modules|[\\/]src[\\/](ui[\\/]|messages[\\/]\w+\.ts|problem|icon)/,
              minShareCount: 2,
            },
            // A page loads the words of one language.
            ...['en', 'zh-CN'].flatMap((language) => [
              { name: `words-${language}`, test: wordsOf(language, 'ui|money') },
              { name: `account-words-${language}`, test: wordsOf(language, 'account.*') },
              { name: `console-words-${language}`, test: wordsOf(language, '.*') },
            ]),
            // What the console shares with the chunks that it loads later.
            { name: 'console', test: /[\\/]src[\\/](api|pages|search)/, minShareCount: 2 },
          ],
        },
      },
    },
  },
})
