/** What each error code means and what to do, as Markdown. A brace that is no figure stands in quotes. */
export const errors = {
  access: {
    credential_invalid: {
      meaning:
        '凭证缺失、格式错误、未知、已撤销或已过期。应答只说明是否带有凭证，并带有 `x-should-retry: false`。',
      advice:
        '以 `Authorization: Bearer …`、`x-api-key: …` 或 `api-key: …` 发送密钥；若发送多个，必须相同。或者申请新密钥。',
    },
    credential_wrong_kind: {
      meaning: '凭证有效，但不能用于此端点。',
      advice: '模型路由使用 `cr_` 密钥，`/v1/usage` 使用 `ro_` 令牌，`/metrics` 使用 `ad_` 令牌。',
    },
    session_invalid: {
      meaning:
        '控制台或账户页面的会话已结束：30 分钟未使用、已满 12 小时、已退出登录，或其管理令牌已失效、成员已被移除。',
      advice: '请重新登录。',
    },
    sign_in_code_invalid: {
      meaning: '控制台的链接已使用过或已过期（五分钟后），或其管理令牌已失效。',
      advice: '用 `turnpike console` 获取新链接，或用管理令牌登录。',
    },
    sign_in_link_invalid: {
      meaning:
        '账户页面的登录链接已使用过、已过期（15 分钟后）、已被新的链接取代，或在另一浏览器中打开。',
      advice: '请在此浏览器中重新请求链接，并使用最新的邮件。',
    },
    oidc_refused: {
      meaning:
        'OpenID Connect 登录被拒绝：提供方拒绝了它，它不是在此处开始的，它已被使用过，或者此人在这里没有账户或角色。消息会说明是哪一种。',
      advice: '请在同一浏览器中重新开始，或申请邀请或角色。',
    },
    oidc_unavailable: {
      meaning: 'OpenID Connect 提供方没有及时应答，或应答不正确。',
      advice: '请稍后重试。运营方：原因见网关的日志。',
    },
    https_required: {
      meaning: '以明文 http 登录控制台只能在回环地址上进行（`127.0.0.1`、`[::1]`、`localhost`）。',
      advice:
        '请通过代理使用 https，或使用 SSH 隧道：`ssh -L 8081:127.0.0.1:8081 HOST`，然后打开 `http://127.0.0.1:8081/console/`。',
    },
    cross_site_request: {
      meaning: '带有控制台 Cookie 的请求或登录并非来自控制台本身。',
      advice:
        '请使用控制台，或以 `Authorization: Bearer …` 发送管理令牌。运营方：代理必须传递 `Host` 请求头。',
    },
    address_not_allowed: {
      meaning: '该密钥只能从特定地址使用，而此地址不在其中。',
      advice: '请从允许的地址调用，或向运营方申请没有此限制的密钥。',
    },
    role_insufficient: {
      meaning: '管理令牌的角色不允许此操作。',
      advice: '请使用其他角色的令牌；docs/admin-api.md 中有对照表。',
    },
    account_suspended: {
      meaning: '运营方已暂停该账户。',
      advice: '请联系运营方。运营方：`turnpike account resume NAME`。',
    },
    account_closed: {
      meaning: '运营方已关闭该账户。',
      advice: '请联系运营方。运营方：`turnpike account reopen NAME`。',
    },
    model_not_allowed: {
      meaning:
        '模型存在，但该密钥不可使用。在 messages 格式中状态码为 400，客户端随后会请求其他模型。',
      advice: "`GET '{'prefix'}'/v1/models` 列出该密钥的模型。",
    },
    rate_limited: {
      meaning: '账户或密钥已达到每分钟请求数；消息说明是哪一个。',
      advice:
        '请等待 `retry-after` 秒。运营方：`turnpike account limits NAME --rpm N`、`turnpike key edit ID --rpm N`。',
    },
    tokens_limited: {
      meaning: '账户或密钥在过去 60 秒内结束的请求已用完每分钟 Token 数。正在进行的请求不计入。',
      advice:
        '请等待 `retry-after` 秒。运营方：`turnpike account limits NAME --tpm N`、`turnpike key edit ID --tpm N`。',
    },
    too_many_running: {
      meaning: '密钥或账户已达到并发数上限，或管理令牌已达到事件流的上限。',
      advice:
        '请等待其中一个请求结束。运营方：设置 `max_running_per_key`、`max_running_per_account`。',
    },
    too_many_bytes: {
      meaning: '密钥或账户正在进行的请求的请求体过大。',
      advice: '请等待其中一个请求结束。运营方：设置 `bodies_max_bytes`。',
    },
    too_many_wrong_codes: {
      meaning: '此账户或此客户端地址尝试了过多不存在的充值码。',
      advice: '请检查充值码，并等待 `retry-after` 秒。',
    },
    too_many_failed_sign_ins: {
      meaning: '此地址在一分钟内没有有效凭证的请求过多。已知的密钥仍可使用。',
      advice:
        '请更正凭证并等待 `retry-after` 秒。运营方：设置 `max_failed_sign_ins`；在代理之后还有 `trusted_proxies`。',
    },
  },
  http: {
    malformed: {
      meaning: '请求不是有效的 HTTP/1.1，或有歧义。',
      advice: '请使用常见的 HTTP 客户端，并检查中间的代理。',
    },
    not_found: {
      meaning: '端点不存在。消息列出存在的端点，或指出正确的基础地址。',
      advice:
        '请检查基础地址。常见原因是缺少供应商，或用了另一个供应商的路径。缺少或重复的 `/v1`、`//` 以及末尾的斜杠都能识别。',
    },
    method_not_allowed: {
      meaning: '该端点用于另一种方法，见响应头 `allow`。',
      advice: '请使用该方法。',
    },
    body_timeout: {
      meaning: '请求体未及时到达。',
      advice: '请更快发送。运营方：设置 `body_timeout`。',
    },
    body_too_large: {
      meaning: '请求体过大。',
      advice: '请减少内容。运营方：设置 `body_max_bytes`。',
    },
    unsupported_media_type: {
      meaning:
        '请求体未声明为 JSON，带有无法解码的 `content-encoding`，或声明了 utf-8 以外的字符集。',
      advice:
        '请发送 `content-type: application/json`，不压缩，或使用 gzip、deflate、br、zstd 之一。',
    },
    websocket_not_served: {
      meaning: '客户端在 responses 路径上请求 WebSocket，Codex CLI 会先这样做。',
      advice: '请通过 HTTP 发送请求；Codex CLI 会立即这样做。',
    },
    head_too_large: {
      meaning: '请求头超过 64 KiB，或多于 256 个。',
      advice: '请发送更少或更短的请求头。',
    },
  },
  relay: {
    request_invalid: {
      meaning:
        '请求体不是有效的 JSON；或网关读取的字段缺失、错误、重复出现、大小写不同（`Model`）；或名称中含有 U+0000。',
      advice: '消息指出了该字段。',
    },
    model_unknown: {
      meaning: '此前缀不提供这样的模型。消息给出最接近的模型，或提供该模型的供应商的基础地址。',
      advice:
        "`GET '{'prefix'}'/v1/models`。运营方：没有价格的模型不提供服务；`turnpike price list` 显示价格。",
    },
    not_offered: {
      meaning: '该模型没有渠道提供此端点（例如 `count_tokens`），或目录说明该模型不提供。',
      advice:
        '请不使用它。该模型的其他端点仍可使用。运营方：模型的 `operations` 与 `output` 价格。',
    },
    response_unknown: {
      meaning: '账户没有该 ID 的已存储应答。',
      advice: '请使用过去 30 天内同一账户的应答中的 ID。',
    },
    previous_response_unknown: {
      meaning: '`previous_response_id` 不是该账户已存储的应答。',
      advice: '同上，或发送完整的输入。',
    },
    item_unknown: {
      meaning: '`input` 以 ID 引用了账户所没有的条目或容器。',
      advice: '同上，或完整发送该条目。',
    },
    encrypted_content_unreadable: {
      meaning: '`input` 中的加密内容属于另一个账户。',
      advice: '请将其去除。',
    },
    state_unavailable: {
      meaning: '请求所引用的先前应答已无法访问，或没有一个供应商账户能读取其全部。',
      advice: '请开始新的对话：发送完整的输入，不带先前应答的 ID 和加密内容。',
    },
    no_channel_available: {
      meaning:
        '该模型没有可以尝试的渠道：没有配置渠道，运营方停用了全部渠道，或全部渠道都已达到并发上限。',
      advice: '请稍后重试。运营方：`turnpike channel list` 显示是哪些渠道及其原因。',
    },
    overloaded: {
      meaning: '供应商或网关目前没有容量。',
      advice: '请在 `retry-after` 之后重试。',
    },
    shutting_down: {
      meaning: '该网关正在停止：不再接受新请求，并已结束超过 `drain_timeout` 的请求。',
      advice: '请重试：其他节点或重新启动的节点会应答。',
    },
    upstream_failed: {
      meaning:
        '没有渠道给出可用的应答，或应答中断。供应商拒绝运营方自己的账户时，客户端看到的也是它。',
      advice:
        '请重试。运营方：`turnpike channel list`。凭证被拒绝的渠道保持停用，直到凭证重新可用。',
    },
    answer_too_large: {
      meaning: '供应商的非流式应答超过了网关在内存中保留的大小。未扣费，也不归咎于渠道。',
      advice:
        '请减少请求的内容：更少的文本，或以 base64 返回嵌入。运营方：设置 `answer_max_bytes`。',
    },
    upstream_timeout: {
      meaning: '供应商在所有渠道上都未及时应答。',
      advice:
        '请重试，或减少请求的内容。运营方：设置 `connect_timeout`、`first_event_timeout`、`answer_timeout`、`idle_timeout`、`ping_timeout`、`request_deadline`。',
    },
    upstream_throttled: {
      meaning: '所有渠道都已达到供应商的速率限制。',
      advice:
        '请在 `retry-after` 之后重试：即供应商给出的时间，最多 60 秒。运营方：增加渠道，或向供应商申请更高的限额。',
    },
  },
  api: {
    request_invalid: {
      meaning: '网关自身端点的查询参数或请求体有误。',
      advice: '消息指出了错误的部分。',
    },
  },
  ledger: {
    insufficient_balance: {
      meaning: '余额不足以支付该请求可能产生的最高费用。',
      advice: '请充值，或请求更少的输出：消息说明余额可支付多少。重试同一请求没有帮助。',
    },
    balance_held: {
      meaning: '余额本身足够，但其中一部分由账户正在进行的请求预扣。',
      advice: '请等待 `retry-after` 秒后重试。',
    },
    daily_limit_reached: {
      meaning: '加上此请求，今天的扣费可能超过账户或密钥的每日限额。',
      advice:
        '消息说明下一天何时开始（00:00 UTC）。运营方：`turnpike account limits NAME --daily USD`、`turnpike key edit ID --daily USD`。',
    },
    monthly_limit_reached: {
      meaning: '加上此请求，本日历月（UTC）的扣费可能超过密钥的每月限额。',
      advice: '消息说明下个月何时开始。运营方：`turnpike key edit ID --monthly USD`。',
    },
    total_limit_reached: {
      meaning: '加上此请求，密钥的全部扣费可能超过其累计限额。',
      advice: '它不会重置。运营方：`turnpike key edit ID --total USD`。',
    },
    unavailable: {
      meaning:
        '存储无法记录扣费，因此网关不接受请求，也不完成应答。未能完成的应答不扣费。对于命令：存储目前无法打开、读取或写入。',
      advice:
        '请在 `retry-after` 之后重试。运营方：检查磁盘和存储；`turnpike doctor`。命令的消息指出了问题。',
    },
  },
  payments: {
    unavailable: {
      meaning: 'Stripe 没有应答，或拒绝了网关的请求。',
      advice: '请重试。运营方：日志中有原因。',
    },
    signature_invalid: {
      meaning: 'Stripe 事件的签名缺失、错误，或早于五分钟之前。',
      advice: '运营方：检查设置 `stripe_webhook_secret` 和本机的时钟。',
    },
  },
  operations: {
    invalid: {
      meaning: '命令的输入有误，或主密钥无法使用。',
      advice: '消息列出每个错误及其字段。',
    },
    not_found: {
      meaning: '没有该名称的账户、密钥或渠道，或该处没有存储。',
      advice: '相应的 `list` 命令显示存在的对象。',
    },
    conflict: {
      meaning: '输入与现有内容矛盾：名称或引用已被使用，或存储的版本更新。',
      advice: '请阅读消息；未做任何更改。',
    },
    precondition_failed: {
      meaning: '读取之后内容已被修改（`If-Match`、`revision`）。',
      advice: '请重新读取后再决定。',
    },
    credential_refused: {
      meaning: '渠道的新凭证未能完成请求。',
      advice: '未做任何更改。请提供其他凭证，或使用 `force`。',
    },
    confirmation_required: {
      meaning: '该金额可能有误：它会使余额为负，或超过迄今最大一笔充值的 100 倍。',
      advice: '请核对金额。若无误，请加上 `--yes`，在 API 中为 `"confirm": true`。',
    },
  },
  gateway: {
    internal: {
      meaning: '网关出现故障。扣费不会超过所记录的金额。',
      advice: '请附上请求 ID 报告。运营方：带有该 ID 的日志行说明原因。',
    },
  },
}
