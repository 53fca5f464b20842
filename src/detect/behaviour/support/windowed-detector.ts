import type { DropCounts } from '../detector.ts';
import type { Windows, WindowsState } from './windows.ts';

/** Base class of detectors whose state consists of one `Windows`. */
export abstract class WindowedDetector<V> {
  protected abstract readonly windows: Windows<V>;

  get dropped(): DropCounts {
    return this.windows.dropped;
  }

  state(): WindowsState<V> {
    return this.windows.state();
  }

  restore(state: WindowsState<V>): void {
    this.windows.restore(state);
  }

  merge(state: WindowsState<V>): void {
    this.windows.merge(state);
  }
}
