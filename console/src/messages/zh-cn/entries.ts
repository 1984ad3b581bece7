/** Words of the forms of the catalogue, in Chinese. */
import type { entries as english } from '../en/entries.ts'
import type { Translation } from '../translation.ts'

export const entries = {
  fields: {
    allow: '允许的地址',
    allow_private: '允许内网地址',
    also: '其他名称',
    baselines: '基准延迟',
    chat_path: 'Chat 路径',
    check: '检查',
    cost: '成本系数',
    credential: '凭证',
    credential_form: '凭证形式',
    dated: '带日期的名称',
    default_version: '默认版本',
    drop_betas: '去除 beta 标头',
    first_event_timeout: '首个事件超时',
    format: '格式',
    headers: '标头',
    idle_timeout: '空闲超时',
    image_tokens: '图像 Token',
    max_concurrent: '最大并发',
    max_input_tokens: '最大输入 Token',
    max_output_tokens: '最大输出 Token',
    models: '模型',
    operations: '操作',
    output_limit: '输出上限',
    path: '路径',
    ping_timeout: '心跳超时',
    price: '价格（美元/百万 Token）',
    proxy: '代理',
    query: '查询参数',
    rank: '优先级',
    require_max_tokens: '要求 max_tokens',
    stored_responses: '存储响应',
    stream_usage: '流式用量',
    thinks: '推理',
    url: '地址',
    vendor: '供应商',
    version_header: '版本标头',
    weight: '权重',
  },
  fieldMeaning: `{key, select,
    vendor {所属的供应商。}
    url {不含 path 和端点路径的地址；网关会补上二者。}
    secret {env:NAME、file:/path，或凭证本身（应用时加密）。}
    credential {网关向供应商出示密钥的方式：请求头 x-api-key 或 api-key，或 bearer。}
    credential_form {该渠道出示凭证的方式：x-api-key、bearer 或 api-key。}
    path {地址与端点路径（如 /messages）之间的部分，例如 /api/paas/v4。}
    chat_path {适用于 messages 格式的供应商，其渠道也支持 Chat Completions：它的 path，例如 /v1。}
    query {每个请求都带的参数，替换客户端的同名参数，每行一个，例如 api-version: 2026-10-01。}
    headers {每个请求都带的请求头，替换客户端的同名请求头，每行一个。}
    proxy {途经的 HTTP 代理，例如 http://proxy.example:3128。}
    stream_usage {网关是否通过添加 stream_options 请求 Chat 流的用量。}
    drop_betas {该供应商不认识的 Beta：名称，或以 * 结尾的前缀。}
    models {该渠道提供的模型，以及它们在该渠道的名称。}
    rank {0 到 99。优先级数字最小且可用的渠道提供服务，数字更大的为备用。}
    weight {1 到 10000。同一优先级的渠道之间账户的份额。}
    max_concurrent {客户端尝试的并发上限，超出的转到下一个渠道。}
    check {网关检查渠道的方式：request 发送极小的请求，models 获取列表，none 不检查。}
    output_limit {请求中限制该渠道全部计费输出的字段。}
    first_event_timeout {到流开始及首个输出之间的最长静默时间。}
    idle_timeout {流中途的最长静默时间，也适用于思考的模型。}
    ping_timeout {仅靠 Ping 维持已开始的流的最长时间。}
    baselines {模型的流到首个事件的通常时间，代替学习到的值。}
    allow_private {自有网络中的地址（如 http://10.0.0.7:8000）须选“是”。}
    max_output_tokens {最大输出 Token 数，决定没有 max_tokens 的请求的预扣。}
    max_input_tokens {模型最多读取的 Token 数。}
    image_tokens {请求中一张图片最多计算的 Token 数。}
    also {客户端可以使用的其他名称。}
    dated {也响应带日期的名称（如 NAME-20261021）的模型选“是”，价格相同。}
    thinks {应答中途可能静默数分钟的模型选“是”。}
    operations {适用于 Chat 格式的供应商：模型提供 chat、responses、embeddings、completions 中的哪些。}
    format {messages 或 chat：请求体、流事件和错误的形式。}
    version_header {供应商用于 API 版本的请求头。}
    default_version {客户端未发送时该请求头的值。}
    require_max_tokens {选“否”时请求可以省略 max_tokens，网关按模型的 max_output_tokens 预扣。}
    allow {请求可以使用您在该供应商账户中的哪些功能。}
    stored_responses {own：账户可以使用自己生成并由供应商存储的响应；refuse：不可以。}
    other {{said}}}`,
  hintWithDefault: '{hint} 默认值：{value}。',
  more: '更多设置',
  choose: '请选择…',
  default: '默认',
  yes: '是',
  no: '否',
  stored: '已保存，不显示',
  nameAtVendor: '{model} 在供应商处的名称',
  nameMissing: '请填写名称。',
  nameTaken: '目录中已有 {name}，请换一个名称。',
  remove: '移除 {name}',
  showChanges: '查看更改',
  save: '保存',
  back: '返回',
  changeAgain: '继续修改',
  nothingChanges: '没有更改：目录中已是如此。',
  inForce: '立即生效，一秒内在所有网关上生效：',
  cost: {
    hint: '自身成本相对于标价的系数，例如 0.8',
    byModel: '按模型的成本价格',
    byModelHint: '对有单独价格的模型，代替系数。单位：美元/百万 Token。',
    add: '添加某个模型的成本价格',
  },
  baselines: { add: '添加某个模型的基线' },
  price: {
    unset: {
      input: '无价格',
      output: '不产生输出',
      cache_read: '未设置：同输入',
      cache_write_5m: '未设置：1.25 × 输入',
      cache_write_1h: '未设置：2 × 输入',
    },
    fieldFrom: '{field}，自 {day} UTC 起',
    from: '生效日期',
    fromHint: '00:00 UTC',
    removeVersion: '移除 {day} 起的版本',
    addVersion: '添加以后的版本',
    fault: '最多六位小数的数字，例如 3.75。',
    another: '添加其他价格',
  },
  diff: {
    added: '新增',
    changed: '更改',
    retired: '停用',
    retiredHint: '它不再处理请求。',
    becomes: '变为',
    notSet: '未设置',
  },
  kind: {
    vendor: '供应商',
    model: '模型',
    channel: '渠道',
    account: '账户',
    key: '密钥',
  },
  others: {
    intro:
      '其他运营人员在此期间更改了目录，因此未保存。您填写的内容已保留；请对照双方的更改后继续。',
  },
  edit: { title: '编辑 {name}', saved: '{name} 已更改。' },
  credential: {
    title: '更换 {channel} 的凭证',
    intro:
      '新凭证会先处理一个极小的请求（供应商会收费），随后立即生效；正在进行的请求继续使用旧凭证。',
    field: '新凭证',
    hint: '凭证本身（将被加密），或 env:NAME 或 file:/path',
    action: '测试并更换',
    untested: '不测试直接保存',
    saved: '{channel} 的凭证已更换。原凭证保留 24 小时。',
  },
  model: {
    new: '新建模型',
    id: 'ID',
    idHint: '客户端请求时使用的名称',
    vendor: '供应商',
    servedBy: '由以下渠道提供',
    noChannel: '该供应商还没有渠道。',
    mainRoute: '优先级 {rank}，主路由',
    reserve: '优先级 {rank}，备用',
    pricesOf: '{day} 的价格，请核对。',
    saved: '模型 {id} 已保存。',
  },
  channel: {
    new: '新建渠道',
    kind: '供应商类型',
    knownVendor: '{name}（目录中已有）',
    name: '名称',
    nameHint: '在记录、报表和告警中的名称',
    addReserve: '添加备用渠道',
    addReserveHint: '提供相同模型的第二个渠道，在此渠道无法处理时接替',
    reserve: '备用渠道',
    reserveName: '备用渠道的名称',
    reserveAddress: '备用渠道的地址',
    reserveCredential: '备用渠道的凭证',
    reserveRank: '备用渠道的优先级',
    chosenAlready: '已经选择。',
    modelOf: '在目录中它是 {owner} 的模型。',
    saved: '渠道 {name} 已保存。',
  },
  test: {
    action: '测试',
    hint: '{count, plural, other {每个渠道发送一个极小的真实请求。}}供应商会向您收费。',
    works: '{name} 可用。',
    fails: '{name} 不可用。',
    answered: '{model} 在 {time} 内应答',
    tokens: '{input, number} 个输入 Token，{output, number} 个输出 Token',
    cost: '费用 {amount}',
    costUnknown: '费用未知',
    status: '供应商返回 {status}{said, select, none {} other {（{said}）}}。',
  },
  ticks: {
    title: '模型',
    fetch: '获取其模型列表',
    part: '名称的一部分',
    input: '输入（每百万）',
    output: '输出（每百万）',
    known: '目录中已有，含价格',
    knownAs: '目录中为 {model}',
    proposed: '已建议价格',
    proposedOf: '已建议 {day} 的价格',
    others: '另有 {count} 个属于目录中的其他供应商。',
    incomplete: '供应商的模型多于一次列出的数量，请在下方添加其他模型。',
    notListed: '未列出的模型',
    notListedHint: '它在供应商处的 ID',
    add: '添加',
  },
} as const satisfies Translation<typeof english>
