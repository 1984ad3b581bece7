/**
 * Builds the image of the Dockerfile with buildah, and runs it in separate namespaces. The official
 * images are out of reach of a test, so their base is built here: Debian's essential packages by
 * mmdebstrap, with the project's Node and this machine's npm. The base is kept in .cache/deploy.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, realpathSync, renameSync, statfsSync } from 'node:fs'
import { chown, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gather, type Gathered } from '../support/gather.ts'

const root = join(import.meta.dirname, '..', '..')
const cache = join(root, '.cache', 'deploy')
const suite = 'trixie'
const base = 'localhost/turnpike-test-base'
const runFile = promisify(execFile)

/** Runs a program to its end; resolves with its output. */
async function run(command: string, ...words: readonly string[]): Promise<string> {
  const { stdout } = await runFile(command, [...words], { maxBuffer: 64 * 1_048_576 })
  return stdout.trim()
}

/** The type that Linux gives of an overlay, on which there can be no other. */
const overlayType = 0x794c7630

function buildah(command: string, ...words: readonly string[]): Promise<string> {
  // Layers as overlays, or as copies where the checkout itself is in a container.
  const driver = statfsSync(root).type === overlayType ? 'vfs' : 'overlay'
  const storage = join(cache, driver)
  const options = ['--root', storage, '--runroot', join(storage, 'run')]
  return run('buildah', ...options, '--storage-driver', driver, command, ...words)
}

/** Why an image cannot be built here; undefined where it can. */
export function whyNoImage(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root may make namespaces and file systems everywhere'
  const programs = ['buildah', 'mmdebstrap'].filter((name) => !existsSync(`/usr/bin/${name}`))
  return programs.length === 0 ? undefined : `${programs.join(' and ')} are missing`
}

async function ensureBase(): Promise<void> {
  await mkdir(cache, { recursive: true })
  const known = await buildah('images', '--json')
  if (known.includes(base)) return
  const archive = join(cache, `${suite}.tar`)
  if (!existsSync(archive)) {
    const staged = `${archive}.${process.pid}`
    const words = ['--mode=root', '--variant=essential', '--include=libatomic1,libstdc++6']
    await run('mmdebstrap', ...words, '--format=tar', suite, staged)
    renameSync(staged, archive)
  }
  const container = await buildah('from', 'scratch')
  await buildah('add', container, archive, '/')
  await buildah('copy', container, process.execPath, '/usr/local/bin/node')
  const npm = dirname(dirname(realpathSync(await run('sh', '-c', 'command -v npm'))))
  await buildah('copy', container, npm, '/usr/local/lib/node_modules/npm')
  const link = 'ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm'
  await buildah('run', '--isolation', 'chroot', container, '--', 'sh', '-c', link)
  // Where npm reaches its registry through a proxy with its own authority.
  const authorities = process.env['NODE_EXTRA_CA_CERTS']
  if (authorities !== undefined) {
    await buildah('copy', container, authorities, '/etc/authorities.pem')
    await buildah('config', '--env', 'NODE_EXTRA_CA_CERTS=/etc/authorities.pem', container)
  }
  await buildah('commit', '--rm', container, base)
}

/** What an image says about how it is run. */
interface ImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly WorkingDir: string
  readonly Volumes: Readonly<Record<string, object>>
  readonly StopSignal: string
  readonly Healthcheck: { readonly Test: readonly string[] }
}

export interface Image {
  /** Its files. */
  readonly folder: string
  readonly config: ImageConfig
  remove(): Promise<void>
}

/** Builds the stage of the Dockerfile, for this processor by default; RUN steps run in a chroot. */
export async function buildImage(
  options: { readonly target?: string; readonly processor?: string } = {},
): Promise<Image> {
  await ensureBase()
  const name = `localhost/turnpike-test-${process.pid}-${options.processor ?? 'own'}`
  await buildah(
    'build',
    '--isolation',
    'chroot',
    '--format',
    'docker',
    '--pull-never',
    '--tag',
    name,
    '--volume',
    `${await run('npm', 'config', 'get', 'cache')}:/root/.npm`,
    '--build-arg',
    `NODE_IMAGE=${base}`,
    '--build-arg',
    'COMMIT=abc1234',
    '--build-arg',
    'COMMIT_DATE=2026-11-23',
    '--build-arg',
    `NPM_CONFIG_REGISTRY=${await run('npm', 'config', 'get', 'registry')}`,
    ...(options.processor === undefined ? [] : ['--build-arg', `TARGETARCH=${options.processor}`]),
    ...(options.target === undefined ? [] : ['--target', options.target]),
    root,
  )
  const container = await buildah('from', '--pull-never', name)
  const folder = await buildah('mount', container)
  const described = JSON.parse(await buildah('inspect', '--type', 'image', name)) as {
    readonly Docker: { readonly config: ImageConfig }
  }
  return {
    folder,
    config: described.Docker.config,
    async remove() {
      await buildah('rm', container)
      await buildah('rmi', name)
    },
  }
}

interface Started {
  readonly out: Gathered
  /** The exit code. */
  readonly ended: Promise<number>
}

export interface Container {
  /** The process that is number 1 in the container, by its number outside. */
  readonly pid: number
  readonly log: Gathered
  /** Starts a program in it as the image's user, as `docker exec` does. */
  start(words: readonly string[], input?: string): Started
  /** Runs a program to its end. */
  exec(words: readonly string[], input?: string): Promise<{ code: number; out: string }>
  /** System calls of all its processes that reached for the network. */
  connections(): Promise<readonly string[]>
  /** Sends the image's signal to stop; resolves with the exit code. */
  stop(): Promise<number>
  close(): Promise<void>
}

/** Arguments: the image's files, the volume's files, where the volume is, the user, then the command. */
const inContainer = `
set -e
files=$1 data=$2 volume=$3 user=$4
shift 4
ip link set lo up
mount --bind "$files" "$files"
mount --bind "$data" "$files$volume"
mount --rbind /dev "$files/dev"
mount -t proc proc "$files/proc"
mount -o remount,bind,ro "$files"
exec chroot --userspec="$user" "$files" /usr/bin/env -i -C "$volume" "$@"
`

/**
 * Runs the image with a read-only root and no network but loopback: namespaces for processes, mounts and
 * network, as a container runtime makes them. No runtime is needed, and none of its limits is tested.
 */
export async function runImage({ folder, config }: Image): Promise<Container> {
  const work = await mkdtemp(join(tmpdir(), 'turnpike-image-'))
  const [volume = ''] = Object.keys(config.Volumes)
  // As a runtime fills a new volume: with the files and the owner that the image has there.
  const data = join(work, 'data')
  await mkdir(data)
  const [uid = 0, gid = 0] = config.User.split(':').map(Number)
  await chown(data, uid, gid)
  const traced = join(work, 'trace')
  const command = [...config.Env, ...config.Entrypoint, ...config.Cmd]
  const child = spawn(
    'strace',
    [
      '-f',
      '-qq',
      '-e',
      'trace=connect,sendto,sendmsg',
      '-o',
      traced,
      'unshare',
      '--net',
      '--mount',
      '--pid',
      '--fork',
      '--kill-child=KILL',
      'sh',
      '-c',
      inContainer,
      'container',
      folder,
      data,
      volume,
      config.User,
      ...command,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = once(child, 'close') as Promise<[number | null]>
  const log = gather(child.stdout)
  await log.until(/"msg":"serving"/)
  const pid = innermost(child.pid ?? 0)
  const start = (words: readonly string[], input?: string): Started => {
    const inside = spawn(
      'nsenter',
      [
        '--target',
        String(pid),
        '--net',
        '--mount',
        '--pid',
        '--root',
        '--wd',
        '--setgid',
        String(gid),
        '--setuid',
        String(uid),
        '--',
        'env',
        '-i',
        ...config.Env,
        ...words,
      ],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    )
    const code = once(inside, 'close') as Promise<[number | null]>
    inside.stdin.end(input)
    return { out: gather(inside.stdout), ended: code.then(([first]) => first ?? -1) }
  }
  return {
    pid,
    log,
    start,
    async exec(words, input) {
      const { out, ended: code } = start(words, input)
      return { code: await code, out: out.text() }
    },
    async connections() {
      const lines = (await readFile(traced, 'utf8')).split('\n')
      return lines.filter((line) => /AF_INET/.test(line))
    },
    async stop() {
      process.kill(pid, config.StopSignal)
      return (await ended)[0] ?? -1
    },
    async close() {
      if (child.exitCode === null) process.kill(pid, 'SIGKILL')
      await ended
      await rm(work, { recursive: true, force: true })
    },
  }
}

/** The last process of a chain in which each has started the next. */
function innermost(pid: number): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
  return child === undefined || child === '' ? pid : innermost(Number(child))
}
