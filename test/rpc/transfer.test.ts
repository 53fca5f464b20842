import { describe, expect, it } from 'vitest';
import { pack } from '../../src/rpc/transfer.ts';

describe('pack', () => {
  it('moves buffers, and views that cover a whole buffer, at any place in the message', () => {
    const buffer = new ArrayBuffer(8);
    const view = new Float64Array(4);
    const own = Buffer.allocUnsafeSlow(16);
    const message = { a: [buffer], b: { c: { d: view } }, e: own, f: null, g: 'text' };
    const packed = pack(message);
    expect(packed.value).toBe(message);
    expect(packed.transfer).toEqual([buffer, view.buffer, own.buffer]);
  });

  it('lists a repeated buffer once', () => {
    const bytes = new Uint8Array(8);
    expect(pack([bytes, bytes.buffer, new DataView(bytes.buffer)]).transfer).toEqual([bytes.buffer]);
  });

  it('copies a partial view into a separate buffer, and leaves the original buffer and the message unchanged', () => {
    const whole = new Uint16Array([1, 2, 3, 4]);
    const part = whole.subarray(1, 3);
    const pooled = Buffer.from('pooled');
    const message = { parts: [part], pooled, rest: { kept: true } };
    const { value, transfer } = pack(message);
    const sent = value as { parts: [Uint16Array]; pooled: Uint8Array; rest: object };
    expect(sent.parts[0]).toEqual(new Uint16Array([2, 3]));
    expect(sent.parts[0].buffer.byteLength).toBe(4);
    expect(Buffer.from(sent.pooled).toString()).toBe('pooled');
    expect(sent.pooled.buffer.byteLength).toBe(6);
    expect(sent.rest).toBe(message.rest);
    expect(message.parts[0]).toBe(part);
    expect(message.pooled).toBe(pooled);
    expect(transfer).toEqual([sent.parts[0].buffer, sent.pooled.buffer]);
  });

  it('leaves shared memory shared', () => {
    const shared = new Int32Array(new SharedArrayBuffer(64)).subarray(2, 4);
    expect(pack([shared, shared.buffer])).toMatchObject({ transfer: [] });
    expect((pack([shared]).value as unknown[])[0]).toBe(shared);
  });

  it('counts little more than the size of a buffer, and does not search arrays of plain values', () => {
    expect(pack([new ArrayBuffer(1_000_000)]).bytes).toBeLessThan(1_000_100);
    let looked = 0;
    const numbers = new Proxy(new Array<number>(1_000_000).fill(1), {
      get(target, key, receiver) {
        looked++;
        return Reflect.get(target, key, receiver);
      },
    });
    const { bytes, value } = pack(numbers);
    expect(value).toBe(numbers);
    expect(bytes).toBeGreaterThanOrEqual(8_000_000);
    expect(looked).toBeLessThan(1000);
  });

  it('terminates on cycles and on deep and wide messages', () => {
    const cycle: Record<string, unknown> = { list: [] };
    cycle.self = cycle;
    for (let i = 0; i < 1000; i++) (cycle.list as unknown[]).push({ cycle });
    expect(pack(cycle).value).toBe(cycle);
    expect(pack(Array.from({ length: 200_000 }, () => ({ a: 1 }))).transfer).toEqual([]);
  });
});
