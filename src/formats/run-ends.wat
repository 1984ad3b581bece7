;; Compiled by wabt into the module in run-ends.ts; its test compiles it again and compares.

(module
  (memory (import "host" "memory") 1)

  ;; Finds the bytes of memory[0..length) that are a quote, a backslash or a control character, sixteen at a
  ;; time, and writes their offsets from `marks` on. Returns how many there are. What stands behind `length`
  ;; up to the next sixteen is read too.
  (func (export "mark") (param $length i32) (param $marks i32) (result i32)
    (local $at i32) (local $to i32) (local $bytes v128) (local $bits i32)
    (local.set $to (local.get $marks))
    (block $done
      (loop $step
        (br_if $done (i32.ge_u (local.get $at) (local.get $length)))
        (local.set $bytes (v128.load (local.get $at)))
        (local.set $bits
          (i8x16.bitmask
            (v128.or
              (i8x16.lt_u (local.get $bytes) (i8x16.splat (i32.const 0x20)))
              (v128.or
                (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
                (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c)))))))
        (block $marked
          (loop $mark
            (br_if $marked (i32.eqz (local.get $bits)))
            (i32.store (local.get $to) (i32.add (local.get $at) (i32.ctz (local.get $bits))))
            (local.set $to (i32.add (local.get $to) (i32.const 4)))
            (local.set $bits
              (i32.and (local.get $bits) (i32.sub (local.get $bits) (i32.const 1))))
            (br $mark)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $step)))
    (i32.shr_u (i32.sub (local.get $to) (local.get $marks)) (i32.const 2))))
