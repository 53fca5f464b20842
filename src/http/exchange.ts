import { setImmediate as nextTurn } from 'node:timers/promises';
import { Budget } from '../admission/budget.ts';
import type { ShipperProtocol } from '../contract/routes/route.ts';
import { ServiceError } from '../errors.ts';
import type { ClientCertificate } from '../identities/client-certificate.ts';
import { prefersPage } from './accept.ts';
import { type AuditedCall, auditedCall } from './audited-call.ts';
import { type ArrivedBody, type BodyLimits, IncomingBody, noBody } from './bodies.ts';
import { RequestCaller } from './caller.ts';
import { compress } from './compress.ts';
import { corsHeaders, preflightHeaders } from './cors.ts';
import type { Authenticated, Call, Endpoint } from './endpoint.ts';
import { answerable, NotAllowed, renderError } from './error-reply.ts';
import { contentCoding } from './json-body.ts';
import { limitByReason } from './limit-metrics.ts';
import type { Match } from './match.ts';
import { type Chunks, type Header, noContent, type Rendered, type Reply, render } from './reply.ts';
import { copyHead, framing, mediaType, type RequestHead, requestId } from './request.ts';
import { type Sending, send } from './send.ts';
import { sendStream } from './send-stream.ts';
import type { IncomingRequest, ServerState } from './server-state.ts';
import { elasticsearchError } from './shippers/elasticsearch-reply.ts';
import { otlpError } from './shippers/otlp-reply.ts';
import { splunkError } from './shippers/splunk-reply.ts';
import { refuseCredentials } from './url-credentials.ts';
import type { HttpRequest, HttpResponse } from './uws.ts';

/** Renders an error in the form of a protocol. `head` is the head of the request. */
export type ErrorReply = (error: ServiceError, head: RequestHead) => Rendered;

const errorReplies: Readonly<Record<ShipperProtocol, ErrorReply>> = {
  elasticsearch: elasticsearchError,
  splunk: splunkError,
  otlp: otlpError,
};

/** Limits of an unexpected body, which is read and dropped. */
const unwanted: BodyLimits = {
  maxBytes: Number.MAX_SAFE_INTEGER,
  budget: new Budget(0),
  tooLong: 'maxBodyBytes',
  overloaded: 'maxJsonInFlightBytes',
};

/**
 * Header that states when an idle connection ends. uWebSockets.js ends a connection that is idle for 8 to 12
 * s. Clients that respect this header (RFC 2068, section 19.7.1.1), such as those of Node, close their
 * connection sooner, so that no request is sent on a connection that is being closed.
 */
const keepAlive: Header = ['Keep-Alive', 'timeout=8'];

/**
 * One request and its response.
 *
 * uWebSockets.js ends the process when a response is used after its connection is lost. `#gone` is therefore
 * checked after each await, and this class never throws into the callbacks of uWebSockets.js. An error that
 * is not a `ServiceError` is a bug: it is logged, and the response is INTERNAL without details.
 */
export class Exchange {
  readonly #front: ServerState;
  readonly #res: HttpResponse;
  readonly #head: RequestHead;
  readonly #id: string;
  readonly #started = performance.now();
  readonly #arrival: IncomingRequest;
  readonly #certificate: ClientCertificate | undefined;
  readonly #caller: RequestCaller;
  #operation = 'none';
  #protocol: Endpoint['protocol'];
  /** The name of the last parameter of the path. */
  #parameter: string | undefined;
  #audited: AuditedCall | undefined;
  #body: IncomingBody | undefined;
  #abort: AbortController | undefined;
  #sending: Sending | undefined;
  /** The source of a streamed response body; always closed at the end. */
  #chunks: Chunks | undefined;
  #gone = false;

  constructor(front: ServerState, res: HttpResponse, req: HttpRequest, arrival: IncomingRequest) {
    this.#front = front;
    this.#arrival = arrival;
    this.#res = res;
    this.#head = copyHead(req);
    this.#certificate = arrival.transport.certificate(res);
    this.#id = requestId(this.#head);
    this.#caller = new RequestCaller(front, {
      head: this.#head,
      address: arrival.address,
      certificate: this.#certificate,
      at: this.#started,
    });
    front.inFlight++;
    res.onAborted(() => this.#lost());
  }

  /**
   * Begins to process the request. Must be called synchronously in the request handler, because the first
   * bytes of the body are delivered right after the handler returns.
   */
  begin(): void {
    let work: Promise<Reply>;
    try {
      work = this.#dispatch();
    } catch (error) {
      void this.#fail(error, true);
      return;
    }
    work.then(
      (reply) => this.#succeed(reply),
      (error) => this.#fail(error, false),
    );
  }

  #dispatch(): Promise<Reply> {
    const frame = framing(this.#head);
    const match = this.#match();
    const endpoint = !(match instanceof ServiceError) && match.found === 'route' ? match.route : undefined;
    if (endpoint !== undefined) {
      this.#operation = endpoint.operation;
      this.#protocol = endpoint.protocol;
    }
    if (frame.body) {
      const bodyLimits = endpoint?.body?.limits ?? unwanted;
      this.#body = new IncomingBody(this.#res, frame.length, bodyLimits, this.#front.observer.limitReached);
      if (endpoint?.body === undefined) this.#body.ignore();
    }
    return this.#answer(match, endpoint);
  }

  #match(): Match<Endpoint> | ServiceError {
    const { method, path } = this.#head;
    try {
      const page = prefersPage(this.#head) ? this.#front.pages.match(method, path) : undefined;
      return page?.found === 'route' ? page : this.#front.routes.match(method, path);
    } catch (error) {
      if (error instanceof ServiceError) return error;
      throw error;
    }
  }

  async #answer(match: Match<Endpoint> | ServiceError, endpoint: Endpoint | undefined): Promise<Reply> {
    if ('route' in match) {
      this.#audited = auditedCall(match.route, match.params, this.#id, this.#arrival.address);
      this.#parameter = [...match.params.keys()].at(-1);
    }
    if (this.#arrival.refusal !== undefined) throw this.#arrival.refusal;
    this.#front.rate?.fromAddress(this.#arrival.address, this.#started);
    this.#arrival.transport.requireCertificate(this.#certificate, Date.now());
    refuseCredentials(this.#head.query);
    if (match instanceof ServiceError) throw match;
    if (match.found === 'nothing') throw new ServiceError('NOT_FOUND', 'no such path');
    if (this.#head.method === 'OPTIONS') {
      const allow = match.found === 'path' ? match.allow : '';
      return { ...noContent, headers: preflightHeaders(this.#head, allow, this.#front.corsOrigins) };
    }
    if (match.found === 'path' || endpoint === undefined)
      throw new NotAllowed(match.found === 'path' ? match.allow : '');
    if (this.#front.inFlight > this.#front.maxInFlight && !endpoint.alwaysAnswered) {
      this.#front.observer.limitReached('maxRequestsInFlight');
      throw new ServiceError('OVERLOADED', 'too many requests in progress; nothing of this request was kept');
    }
    const { identity, refusal } = await this.#caller.identify(endpoint, this.#audited);
    if (this.#gone) throw new ServiceError('CANCELLED', 'the client disconnected');
    if (!this.#caller.isCounted() && !endpoint.alwaysAnswered)
      throw new ServiceError('OVERLOADED', 'too many unauthenticated requests in progress');
    if (this.#audited !== undefined) this.#front.audit?.requireWritable(this.#audited);
    const exchange = this;
    const call: Call = {
      head: this.#head,
      params: match.params,
      requestId: this.#id,
      remoteAddress: this.#arrival.address,
      audited: this.#audited,
      identity,
      refusal,
      coding: endpoint.body && contentCoding(this.#head.headers.get('content-encoding')),
      body: await this.#accept(endpoint, identity),
      get signal() {
        return exchange.#signal();
      },
    };
    return endpoint.run(call);
  }

  async #accept(endpoint: Endpoint, identity: Authenticated | undefined): Promise<ArrivedBody | undefined> {
    if (endpoint.body === undefined) return undefined;
    const body = this.#body;
    if (body === undefined) return noBody;
    mediaType(this.#head, endpoint.body.mediaTypes);
    const own = identity && endpoint.body.limits.ofPrincipal?.budget.of(identity.principal.id);
    const arrived = await this.#caller.waitFor(body, () => body.accept(own));
    if (arrived !== undefined) return arrived;
    throw new ServiceError('OVERLOADED', 'too many incomplete request bodies from this address');
  }

  /** Drops the rest of the body. Returns true if the connection must be closed instead. */
  async #discard(): Promise<boolean> {
    const body = this.#body;
    if (body === undefined) return false;
    if (body.isAnnounced) return body.discard();
    return (await this.#caller.waitFor(body, () => body.discard())) ?? true;
  }

  #signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#gone) this.#abort.abort();
    return this.#abort.signal;
  }

  async #succeed(reply: Reply): Promise<void> {
    const audited = this.#audited;
    this.#audited = undefined;
    if (reply.kind === 'stream') this.#takeChunks(reply.chunks);
    try {
      if (audited !== undefined) await this.#front.audit?.succeeded(audited, reply);
    } catch (error) {
      return this.#fail(error, false);
    }
    await this.#settle(() => render(reply, Date.now(), performance.now() - this.#started), false);
  }

  #takeChunks(chunks: Chunks): void {
    this.#chunks = chunks;
    if (this.#gone) chunks.close();
  }

  /**
   * Responds with the error. With `unframed`, the start of the next request is unknown, so the connection
   * ends after the response.
   */
  async #fail(error: unknown, unframed: boolean): Promise<void> {
    const known = answerable(error);
    if (known !== error && !this.#gone) {
      this.#front.log.error({ request_id: this.#id, operation: this.#operation, err: error }, 'request failed');
    }
    if (this.#audited !== undefined) this.#front.audit?.failed(this.#audited, known);
    if (this.#audited?.as === 'ingest') this.#front.observer.sensorFailed?.(this.#audited, known);
    const limit = limitByReason(known);
    if (limit !== undefined) this.#front.observer.limitReached(limit);
    if (known.code === 'WORKER_LOST') {
      this.#front.log.warn({ request_id: this.#id, operation: this.#operation }, known.message);
    }
    await this.#settle(() => this.#told(known), unframed);
  }

  #told(error: ServiceError): Rendered {
    if (this.#protocol !== undefined) return errorReplies[this.#protocol](error, this.#head);
    return renderError(error, Date.now(), this.#caller.tokenShown, this.#parameter);
  }

  async #settle(make: () => Rendered, cut: boolean): Promise<void> {
    try {
      if (this.#gone) return;
      // The server waits neither for the rest of the body nor for the client if the connection ends after the
      // response.
      const last = cut || !this.#caller.isCounted() || (await this.#discard());
      // uWebSockets.js would serve another request in the same packet, and keep the connection open for it. After
      // this wait, such a request has already ended the connection, because the response was not sent yet.
      if (last) await nextTurn();
      if (this.#gone) return;
      const rendered = await compress(this.#head, make(), this.#front.observer.limitReached);
      if (typeof rendered.body === 'object' && 'close' in rendered.body) this.#takeChunks(rendered.body);
      if (this.#gone) return;
      this.#send(rendered, last);
    } catch (error) {
      this.#front.log.error({ request_id: this.#id, operation: this.#operation, err: error }, 'response failed');
      if (!this.#gone) this.#res.close();
    }
  }

  #send(rendered: Rendered, cut: boolean): void {
    const { connection } = this.#arrival;
    const close = cut || this.#front.closing || this.#arrival.transport.retired || rendered.status === 413;
    const general: Header[] = [
      ['X-Request-Id', this.#id],
      ...this.#front.securityHeaders.filter(([name]) => !rendered.headers.some(([own]) => own === name)),
      ...corsHeaders(this.#head, this.#front.corsOrigins),
    ];
    // uWebSockets.js writes the `Connection` header itself if `cut` is set.
    if (close && !cut) general.push(['Connection', 'close']);
    if (!close && !/close/i.test(this.#head.headers.get('connection') ?? '')) general.push(keepAlive);
    const { connections, observer, unsent } = this.#front;
    observer.answered(this.#operation, rendered.status, performance.now() - this.#started);
    const options = {
      headOnly: this.#head.method === 'HEAD',
      cut,
      unsent,
      limitReached: observer.limitReached,
    };
    const onDone = () => {
      this.#end();
      connections.rest(this.#arrival.address, connection);
    };
    const { body } = rendered;
    if (typeof body !== 'object' || body instanceof Uint8Array) {
      this.#sending = send(this.#res, { ...rendered, body }, general, options, onDone);
      return;
    }
    const onBroken = (err: unknown) =>
      this.#front.log.error(
        { request_id: this.#id, operation: this.#operation, err },
        'a streamed response failed before its end',
      );
    this.#sending = sendStream(this.#res, { ...rendered, body }, general, { ...options, onBroken }, onDone);
  }

  /** Handles the loss of the connection. The response must not be used afterwards. */
  #lost(): void {
    this.#front.connections.lost(this.#arrival.address);
    if (this.#gone) return;
    this.#sending?.abort();
    this.#end();
    this.#abort?.abort();
  }

  #end(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#body?.abort();
    this.#chunks?.close();
    this.#caller.end();
    this.#front.inFlight--;
    this.#front.onEnd();
  }
}
