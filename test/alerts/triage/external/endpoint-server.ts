/** A test server in place of the endpoint: sends configured responses and records the requests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Question {
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly body: { readonly model: string; readonly messages: { role: string; content: string }[] };
}

export type Behaviour = (response: ServerResponse, question: Question, request: IncomingMessage) => void;

export interface EndpointServer {
  readonly url: string;
  readonly port: number;
  readonly questions: Question[];
  behaviour: Behaviour;
  close(): Promise<void>;
}

/** Returns a response with this content in a chat completion. */
export const says =
  (content: unknown): Behaviour =>
  (response) => {
    const message = {
      role: 'assistant',
      content: typeof content === 'string' ? content : JSON.stringify(content),
    };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id: 'c-1', object: 'chat.completion', choices: [{ index: 0, message }] }));
  };

export const answers =
  (status: number, headers: Readonly<Record<string, string>> = {}, body = ''): Behaviour =>
  (response) => {
    response.writeHead(status, headers).end(body);
  };

export const verdict = (more: object = {}) => ({
  verdict: 'benign',
  confidence: 0.8,
  reasons: ['HOST-1 is a backup server.'],
  ...more,
});

export async function endpointServer(behaviour: Behaviour = says(verdict())): Promise<EndpointServer> {
  const questions: Question[] = [];
  const server = createServer((request, response) => {
    text(request).then(
      (body) => {
        const question = {
          url: request.url,
          authorization: request.headers.authorization,
          body: JSON.parse(body),
        };
        questions.push(question);
        playing.behaviour(response, question, request);
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const playing: EndpointServer = {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    questions,
    behaviour,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
  return playing;
}
