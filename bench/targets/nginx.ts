/**
 * Configures and starts nginx as the proxy that all others are compared with: one worker, keep-alive, no
 * buffering of streams, bodies in memory.
 */
import { join } from 'node:path'
import { formatPaths, type StreamFormatName } from '../exchanges.ts'
import { startPeer, type Bench, type Cases, type Target } from './target.ts'

export function startNginx(bench: Bench): Promise<Target> {
  const folder = bench.workFolder
  return startPeer(bench, 'nginx', {
    title: 'nginx proxy_pass',
    configuration: (port) => `
daemon off;
worker_processes 1;
pid ${join(folder, `nginx-${port}.pid`)};
error_log stderr error;
events { worker_connections 32768; }
http {
  access_log off;
  keepalive_requests 100000000;
  keepalive_timeout 600s;
  client_body_buffer_size 2m;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${join(folder, `nginx-${port}-${kind}`)};`)
    .join('\n  ')}
  upstream vendor { server 127.0.0.1:${bench.vendorPort}; keepalive 4096; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    client_max_body_size 8m;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_buffering off;
    location / { proxy_pass http://vendor; }
  }
}
`,
    command: (_port, path) => ['nginx', '-c', path],
    cases: forwarding,
  })
}

/** The cases of a proxy that needs no credential, or of no proxy. */
const plain = (format: StreamFormatName) => ({ path: formatPaths[format], headers: {} })

export const forwarding: Cases = {
  json: plain('chat'),
  streams: {
    messages: plain('messages'),
    chat: plain('chat'),
    responses: plain('responses'),
  },
}
