/** What refusals of the gateway say, by their code. */

export const problems = {
  access: {
    credential_invalid: '凭证缺失、无效、已撤销或已过期。（{detail}）',
    credential_wrong_kind: '凭证有效，但不能用于此处。（{detail}）',
    session_invalid: '会话已结束，请重新登录。（{detail}）',
    sign_in_code_invalid: '登录链接已使用过或已过期。（{detail}）',
    sign_in_link_invalid:
      '登录链接已使用过、已过期、已被新的链接取代，或是在另一浏览器中请求的。（{detail}）',
    oidc_refused: '未能通过 OpenID Connect 登录。（{detail}）',
    oidc_unavailable: 'OpenID Connect 登录暂时不可用，请稍后重试。（{detail}）',
    https_required:
      '只有在本机地址上才能通过明文 http 登录。请使用 https 或 SSH 隧道。（{detail}）',
    cross_site_request: '该请求不是由控制台或账户页面发出的。（{detail}）',
    address_not_allowed: '不允许从此地址使用该密钥。（{detail}）',
    role_insufficient: '管理令牌或成员的角色不允许此操作。（{detail}）',
    account_suspended: '账户已被暂停。（{detail}）',
    account_closed: '账户已被关闭。（{detail}）',
    rate_limited: '已达到速率限制，请稍后重试。（{detail}）',
    too_many_running: '并发数已达上限，请等待其中一个请求结束。（{detail}）',
    too_many_failed_sign_ins: '来自此地址的失败登录过多，请稍后重试。（{detail}）',
  },
  api: {
    request_invalid: '输入有误。（{detail}）',
  },
  http: {
    not_found: '此地址不存在。（{detail}）',
    body_too_large: '内容过大。（{detail}）',
    body_timeout: '内容未能及时送达。（{detail}）',
  },
  ledger: {
    insufficient_balance: '余额不足。（{detail}）',
    unavailable: '存储暂时不可用，请稍后重试。（{detail}）',
  },
  payments: {
    unavailable: '支付服务没有应答，请稍后重试。（{detail}）',
    signature_invalid: '事件的签名无效。（{detail}）',
  },
  operations: {
    invalid: '输入有误。（{detail}）',
    not_found: '没有这个名称的对象。（{detail}）',
    conflict: '与现有内容冲突，未做任何更改。（{detail}）',
    precondition_failed: '读取之后内容已被修改，请重新核对。（{detail}）',
    credential_refused: '新凭证未能完成请求，未做任何更改。（{detail}）',
    confirmation_required: '该金额可能有误，请核对。（{detail}）',
  },
  relay: {
    overloaded: '目前没有容量，请稍后重试。（{detail}）',
    shutting_down: '网关正在停止，请重试。（{detail}）',
  },
  gateway: {
    internal: '网关内部出错。请附上请求 ID 报告。（{detail}）',
  },
}
