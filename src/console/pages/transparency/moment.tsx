import { Time } from '../../ui/time.tsx';

/** A tree head's timestamp in nanoseconds since 1970: as a time in milliseconds, and in full. */
export function Moment({ ns }: { ns: bigint }) {
  return (
    <span class="moment">
      <Time at={Number(ns / 1_000_000n)} as="exact" /> <span class="quiet mono">{ns.toString()} ns</span>
    </span>
  );
}
