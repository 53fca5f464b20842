import { type Agent, type RequestOptions, request } from 'node:https';

export interface TlsAnswer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

export interface TlsCall extends Pick<RequestOptions, 'ca' | 'cert' | 'key' | 'method' | 'headers'> {
  readonly agent?: Agent;
  readonly send?: string;
}

/**
 * Sends one request, on a new connection unless an agent is given. Rejects with the connection's error.
 */
export function callTls(port: number, path: string, { agent, send, ...options }: TlsCall): Promise<TlsAnswer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, agent: agent ?? false, ...options }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        body += part;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }));
      answer.on('error', reject);
    });
    asked.on('error', reject);
    asked.end(send);
  });
}
