/** What each setting means, as Markdown; the subjects, and the defaults that the gateway puts in words. */
export const settings = {
  groups: {
    'Addresses and identity': '地址与标识',
    'Store and secrets': '存储与密文',
    'A store on PostgreSQL': 'PostgreSQL 存储',
    "The client's side": '客户端一侧',
    "The vendor's side": '供应商一侧',
    Endings: '结束方式',
    'Audit and retention': '审计与保留',
    'Account page': '账户页面',
    'Sign-in by OpenID Connect': 'OpenID Connect 登录',
    Traces: '链路追踪',
    Payments: '支付',
    Alerts: '告警',
  },
  defaults: {
    master_key_file: 'SQLite 存储旁的 `master.key`，PostgreSQL 无',
    admin_token: '首次启动时生成，存于文件',
    node_name: '主机名',
    bodies_max_bytes: '四分之一',
    sign_up_domains: '任意',
    stream_keepalive: '`off`（关闭）',
    stripe_url: 'Stripe 本身',
  },
  meanings: {
    listen:
      '客户端连接的地址：模型路由、`/v1/usage`、位于 `/account` 的账户页面、`/health`。端口 `0` 选择一个空闲端口。IPv6 写在方括号内：`[::]:8080`。',
    admin_listen:
      '运营方连接的地址：位于 `/console` 的控制台、[管理 API](admin-api.md)、`/metrics`（需 `ad_` 令牌）、`/livez`、`/readyz`。请勿对公众开放。',
    trusted_proxies:
      '您的代理的地址和网段，以逗号分隔：`10.0.0.0/8, 2001:db8::7`。只有它们对客户端地址的说明才可信。',
    client_address_header:
      '可信代理写明客户端地址的唯一请求头：`x-forwarded-for`、`forwarded` 或 `x-real-ip`。',
    proxy_protocol: '`on`：可信代理到 `listen` 的每个连接都以 PROXY 协议（版本 1 或 2）开头。',
    cors_origins:
      "这些来源的页面可以从浏览器调用 `listen`：`https://app.example, http://localhost:5173`，或用 `'*'` 表示任意来源。参见[浏览器中的页面](browsers.md)。",
    region: '此安装在 `/health` 中的名称。',
    log_level:
      '`fatal`、`error`、`warn`、`info`、`debug`、`trace` 或 `silent`。任何级别都不记录请求体、应答体和密文。',
    store:
      '数据库：`sqlite:PATH` 用于一个网关，`postgres://USER:PASSWORD@HOST/DATABASE` 用于任意多个。',
    master_key:
      '32 个随机字节，写作 64 个十六进制数字或 base64（`openssl rand -base64 32`）。它加密存储中的供应商凭证。写在此处或文件中，不可两处都写。',
    master_key_file: '存有同样形式密钥的文件，只有其所有者可读。',
    admin_token:
      '网关接受的一个 `ad_` 令牌：`ad_` 加 16 至 200 个字母、数字、`-` 或 `_`，最好是 32 个随机字节。新值会在下次启动时撤销旧值。',
    node_name:
      '此进程在存储的各节点中的名称。它供人辨认；两个节点可以同名。有多个 `processes` 时，名称为 `NAME-1`、`NAME-2`，以此类推。',
    processes:
      '`turnpike serve` 在同一地址上运行多少个网关：一个数字，或用 `auto` 表示每个核心一个。`--processes` 可替代它。参见[多个进程](operating.md#use-all-cores)。',
    node_lease:
      '节点失效时，其他节点最迟在此时间之后将其移除并释放其预扣。若没有其他节点运行，则从该节点重新启动时算起。请在所有节点上设为相同的值。',
    settle_timeout: '数据库不可用时，应答的结尾等待扣费的最长时间。之后网关中断该应答且不扣费。',
    body_max_bytes: '请求体的最大字节数。更大的以 413 拒绝。',
    bodies_max_bytes:
      '正在传输的全部请求体的最大字节数，默认为内存的四分之一。一个账户可用其中一半，一个密钥可用四分之一。超出时返回 503 或 429。',
    head_timeout: '客户端发送请求头的最长时间。',
    body_timeout: '客户端发送整个请求的最长时间。',
    keep_alive_timeout: '空闲连接保持打开的时间。请设为大于网关前代理的空闲时间。',
    write_stall_timeout:
      '应答在多久没有任何内容离开网关之后，网关关闭其客户端的连接。已交付的部分会扣费，供应商更早放弃这样的客户端时也是如此。',
    max_connections: '打开的客户端连接的最大数量。进程的打开文件数限制不允许时会更少。',
    max_connections_per_address:
      '一个地址上尚未出示有效密钥的打开连接的最大数量；`0` = 无限制。一个 IPv6 /64 网段算作一个地址。已出示有效密钥的连接和 `trusted_proxies` 的连接不计入。',
    max_failed_sign_ins:
      '一个地址每分钟可发送的没有有效凭证的请求的最大数量；`0` = 无限制。超出时返回 429。一个 IPv6 /64 网段算作一个地址。已知的密钥不受影响。',
    max_running_per_key: '一个密钥的并发数上限；`0` = 无。超出时返回 429。',
    max_running_per_account: '一个账户的全部密钥合计的并发数上限；`0` = 无。',
    api_credential_variables:
      '通过管理 API 提交的目录可以用作凭证的环境变量（`env:NAME`），以逗号分隔。',
    api_credential_file_folders:
      '它可以引用其中文件（`file:/path`）的文件夹：以逗号分隔的绝对路径。',
    check_interval:
      '每个渠道多久由存储上的一个网关做一次健康检查。除非渠道的 `check` 另有规定，检查是一个极小的付费请求。',
    connect_timeout: '连接渠道的最长时间，含 TLS。',
    first_event_timeout:
      '流式：供应商在响应头之前，以及从响应头到首个输出之间的最长静默时间。目录可为模型或渠道设置其他限制。另有渠道可用时，适用[更短的限制](reliability.md#silence)。',
    answer_timeout: '非流式应答：到完整应答为止的最长时间。',
    idle_timeout: '应答中途的最长静默时间；对会 `thinks` 的模型至少为 `10m`。',
    ping_timeout: '仅靠 Ping 维持已开始的流的最长时间。目录可为模型设置其他限制。',
    stream_keepalive:
      '用于客户端位于会切断静默连接的代理之后的情况：静默达到此时间（例如 `15s`）后，流式客户端会收到 Ping（messages）或注释（chat）。在首个事件之前，网关会自行应答 200：供应商的响应头会丢失，之后的拒绝以该格式的错误事件给出。或者 `off`。',
    request_deadline: '一个请求的最长时间，含全部尝试和整个流。',
    max_attempts: '一个请求在客户端得到错误之前的最大尝试次数。',
    failover_tokens:
      '接替流量的渠道的令牌桶：在该渠道失败一次取走一个令牌，成功一次归还十分之一；桶中多于一半时才会故障转移到该渠道。参见[可靠性](reliability.md)。',
    answer_max_bytes:
      '非流式应答（含错误）的最大字节数。流式应答中只有供应商压缩的才受此限制，按解码后计算。2,048 个 3,072 维的嵌入以 base64（多数 SDK 如此请求）为 34 MB，以文本为 60 至 150 MB。',
    client_left_grace:
      '客户端在应答中途离开时，网关为取得供应商的最终计数继续读取的时间，最多 2 MiB；请求要求推理或模型会 `thinks` 时，一直读到计数到达。`0s` = 完全不读。',
    holds:
      '一个请求要求余额和每个限额必须剩余的金额：其 `likely`（预计）费用，或供应商可能计得的 `most`（最高）费用。预扣始终是最高费用。账户可以有自己的规则；尚未付过款的账户始终需要最高费用。',
    upstream_cut:
      '供应商在应答中途中断时：不扣费（`nothing`），或对已交付的部分扣费（`delivered`）。',
    drain_timeout:
      'SIGTERM 之后，正在进行的应答可以继续的时间。之后网关以错误结束它们，并对已交付的部分扣费。请给您的进程管理器设置更长的限制。',
    audit_interval:
      '运行中的网关多久从上一个检查点起审计一次账目，抖动为十分之一；首次在启动后数秒进行。`turnpike audit` 检查全部。',
    request_retention:
      '请求的记录（用以说明其扣费）在请求结束后保留的时间，例如 `400d`；至少 `2d`，按完整的 UTC 日计算。账目、余额和数字始终保留。',
    record_addresses:
      '记录保留客户端地址的多少内容：`none`（不保留）、`family`（地址族，`ipv4` 或 `ipv6`）、`network`（网段，/24 或 IPv6 的 /64）或 `full`（完整地址）。',
    sign_up:
      '是否允许在账户页面自行[注册账户](members.md#sign-up)：`off` 不允许；`invite` 须有充值码；`open` 也可不用充值码。需要 `public_url`、`smtp` 和 `smtp_from`。',
    sign_up_domains:
      '允许注册的邮箱域名，以逗号分隔：`customer.example, example.org`。子域名是另一个域名。',
    public_url:
      '账户持有者访问 `listen` 的地址，例如 `https://gateway.example`：https，或本机地址上的 http，不带路径。设置后即启用[成员](members.md)，他们通过邮件登录（需要 `smtp` 和 `smtp_from`）或通过 OpenID Connect 登录。',
    operator_name:
      '您的名称，显示在账户持有人的账户页面（`/account`）上。能访问 `listen` 的人都能读到它和下一项。',
    operator_contact:
      '账户持有人联系您的方式：`mailto:help@example.com`、`https://example.com/help` 或纯文本。',
    operator_address: '收据上显示的您的地址，写在一行内。',
    tax_percent: '入账金额中所含的税率，例如 `19` 或 `7.7`。收据会显示它。',
    tax_note: '收据上税项的文字：税名和您的税号，例如 `VAT, DE123456789`。',
    stripe_secret_key:
      '您的 Stripe 账户的密钥，最好是只能写入 Checkout 会话的受限密钥。它启用[支付](payments.md)。',
    stripe_secret_key_file: '存有该密钥的文件，代替 `stripe_secret_key`。',
    stripe_webhook_secret: 'Stripe 中 Webhook 的签名密钥（`whsec_…`）。支付需要这两个密钥。',
    stripe_webhook_secret_file: '存有该密钥的文件，代替 `stripe_webhook_secret`。',
    payment_min_usd: '账户持有人一次最少可支付的金额（美元）。',
    payment_max_usd: '账户持有人一次最多可支付的金额（美元）。',
    stripe_url: '本机上代替 Stripe 的服务，供测试使用：`http://127.0.0.1:12111`。',
    oidc_issuer:
      '[成员](members.md#sign-in-by-openid-connect)登录所用的提供方：其 issuer，例如 `https://login.example`。需要 `oidc_client_id` 和 `public_url`。',
    oidc_client_id: '您在该提供方的客户端的标识。',
    oidc_client_secret: '该客户端的密钥（如有）。',
    oidc_client_secret_file: '存有该密钥的文件。',
    console_url:
      '运营方访问 `admin_listen` 的地址，例如 `https://admin.example.com`：https，或本机地址上的 http，不带路径。只有 OpenID Connect 登录需要它。',
    admin_oidc_issuer:
      '[运营方](console.md#sign-in-by-openid-connect)登录控制台所用的提供方。需要 `admin_oidc_client_id`、`admin_oidc_role_claim`、`admin_oidc_roles` 和 `console_url`。',
    admin_oidc_client_id: '您在该提供方的客户端的标识。',
    admin_oidc_client_secret: '该客户端的密钥（如有）。',
    admin_oidc_client_secret_file: '存有该密钥的文件。',
    admin_oidc_scope:
      '网关向该提供方请求的范围。有的提供方只有在请求 `groups` 之类的范围时才给出组。',
    admin_oidc_role_claim: '决定运营方角色的声明，例如 `groups`：一个文本或一个列表。',
    admin_oidc_roles:
      '该声明的哪些值对应哪个角色：`gateway-admins=owner, support=operator, staff=viewer`。以最高的角色为准；没有角色的人会被拒绝。',
    otlp_endpoint:
      'OpenTelemetry 收集器的地址：`http://127.0.0.1:4318`。追踪发往其下的 `/v1/traces`。没有它就没有追踪。未设置时以 `OTEL_EXPORTER_OTLP_ENDPOINT` 为准。',
    otlp_sample_ratio: '客户端未作决定时，被追踪的请求所占的比例，从 `0` 到 `1`。',
    smtp: '发送电子邮件的邮件服务器：`smtp://user@mail.example:587`，或用 `smtps://…` 从首字节起使用 TLS。使用 `smtp://` 时，网关坚持要求 STARTTLS，除非服务器在本机或内网中。',
    smtp_password: '`smtp` 中用户的密码。',
    smtp_password_file: '存有该密码的文件，代替 `smtp_password`。',
    smtp_from: '电子邮件的发件地址。`smtp` 需要它。',
    alert_networks:
      '虽非公网、但可以向其发送 Webhook 和 Slack 兼容消息的网段，以逗号分隔：`10.0.0.0/8, 127.0.0.1`。在其中也允许 `http://`。',
    alert_run_out:
      '按过去 24 小时的消费，账户的余额可用时间短于此值时，您会收到告警。`0s` 关闭该告警。',
    backup_max_age:
      '上次 `turnpike backup` 早于此时间（例如 `26h`）时，您会收到告警。仅用于 SQLite 存储；使用 PostgreSQL 时网关会拒绝启动，因为它看不到那些备份。',
  },
}
