/**
 * The mails to members: an invitation, and a link that signs in or makes an account. An invitation has no
 * secret: who gets it asks for a link at the page. The code of a link stands behind the `#`, which browsers
 * send to no server.
 */
import type { Language } from '../../base/languages.ts'
import type { Email } from '../alerts/message.ts'
import { conflict, type OperationContext } from '../operation.ts'
import type { ReadyMailing } from './mailing.ts'

/** Refuses where members get no mail, and names the settings that are missing. */
/** Undefined where members need no mail, because they sign in by OpenID Connect. */
export function requireMailing({ mailing }: OperationContext): ReadyMailing | undefined {
  if (mailing?.kind === 'ready') return mailing
  if (mailing?.kind === 'none') return undefined
  const settings = mailing?.settings ?? ['public_url', 'smtp', 'smtp_from']
  const [verb, noun] = settings.length === 1 ? ['is', 'setting'] : ['are', 'settings']
  throw conflict(
    `Members sign in by mail, and the ${noun} ${settings.join(' and ')} ${verb} missing. Set ${settings.length === 1 ? 'it' : 'them'}, then invite again.`,
  )
}

interface Invited {
  readonly account: string
  readonly email: string
}

interface Words {
  readonly invitation: (of: Invited & { readonly at: string; readonly url: string }) => Email
  readonly link: (of: {
    readonly at: string
    readonly url: string
    readonly isSignUp: boolean
  }) => Email
}

const english: Words = {
  invitation: ({ account, at, email, url }) => ({
    subject: `Invitation to the account ${account}`,
    text: `You are invited to the account ${account} at ${at}.

Open this page and sign in with the address ${email}; you get a link by mail:

${url}

If you do not know why you got this mail, ignore it.
`,
  }),
  link: ({ at, url, isSignUp }) => ({
    subject: `${isSignUp ? 'Create your account' : 'Sign in'} at ${at}`,
    text: `Open this link in the browser in which you asked for it, and press the button there:

${url}

It works once, within 15 minutes. A newer link ends it. If you did not ask for it, ignore this mail.
`,
  }),
}

const chinese: Words = {
  invitation: ({ account, at, email, url }) => ({
    subject: `邀请您加入账户 ${account}`,
    text: `您受邀加入 ${at} 的账户 ${account}。

请打开以下页面，用地址 ${email} 登录；登录链接将通过邮件发送给您：

${url}

如果您不清楚为何收到此邮件，请忽略。
`,
  }),
  link: ({ at, url, isSignUp }) => ({
    subject: isSignUp ? `在 ${at} 创建账户` : `登录 ${at}`,
    text: `请在您请求此链接的同一浏览器中打开它，然后点击页面上的按钮：

${url}

链接仅可使用一次，15 分钟内有效；新的链接会使它失效。如果不是您请求的，请忽略此邮件。
`,
  }),
}

const words: Readonly<Record<Language, Words>> = { en: english, 'zh-CN': chinese }

function pageOf({ publicUrl, operatorName }: ReadyMailing) {
  return { at: operatorName ?? new URL(publicUrl).host, url: `${publicUrl}/account/?view=sign-in` }
}

export function invitationMail(mailing: ReadyMailing, language: Language, invited: Invited): Email {
  return words[language].invitation({ ...invited, ...pageOf(mailing) })
}

export function linkMail(
  mailing: ReadyMailing,
  link: { readonly language: Language; readonly code: string; readonly isSignUp: boolean },
): Email {
  const { at, url } = pageOf(mailing)
  const { isSignUp } = link
  const page = isSignUp ? url.replace('sign-in', 'sign-up') : url
  return words[link.language].link({ at, url: `${page}#${link.code}`, isSignUp })
}
