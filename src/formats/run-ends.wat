;; Compiled by wabt into the module in run-ends.ts; its test compiles it again and compares.

(module
  (memory (import "host" "memory") 1)

  ;; Whether a byte behind a backslash makes a whole escape with it: one of "\/bfnrt.
  (func $isShort (param $code i32) (result i32)
    (local $group i32)
    (local.set $group (i32.shr_u (local.get $code) (i32.const 5)))
    (i32.and
      (i32.const 1)
      (i32.shr_u
        (select (i32.const 0x8004)
          (select (i32.const 0x10000000)
            (select (i32.const 0x144044) (i32.const 0) (i32.eq (local.get $group) (i32.const 3)))
            (i32.eq (local.get $group) (i32.const 2)))
          (i32.eq (local.get $group) (i32.const 1)))
        (local.get $code))))

  ;; Finds the bytes of memory[0..length) that are a quote, a backslash or a control character, sixteen at a
  ;; time, and passes the escapes of two bytes. Of each of the others it writes the offset, from `marks` on,
  ;; and how many escapes were passed before; behind the last one where it has read to, which can be behind an
  ;; escape that ends there, and all escapes. Returns how many there are.
  (func (export "mark") (param $length i32) (param $marks i32) (result i32)
    (local $at i32) (local $to i32) (local $bytes v128) (local $bits i32)
    (local $found i32) (local $escapes i32) (local $escaped i32)
    (local.set $to (local.get $marks))
    (local.set $escaped (i32.const -1))
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
            (local.set $found (i32.add (local.get $at) (i32.ctz (local.get $bits))))
            (local.set $bits
              (i32.and (local.get $bits) (i32.sub (local.get $bits) (i32.const 1))))
            (br_if $mark (i32.eq (local.get $found) (local.get $escaped)))
            (if (i32.eq (i32.load8_u (local.get $found)) (i32.const 0x5c))
              (then
                (if (call $isShort (i32.load8_u offset=1 (local.get $found)))
                  (then
                    (local.set $escaped (i32.add (local.get $found) (i32.const 1)))
                    (local.set $escapes (i32.add (local.get $escapes) (i32.const 1)))
                    (br $mark)))))
            (i32.store (local.get $to) (local.get $found))
            (i32.store offset=4 (local.get $to) (local.get $escapes))
            (local.set $to (i32.add (local.get $to) (i32.const 8)))
            (br $mark)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $step)))
    (local.set $at (i32.add (local.get $escaped) (i32.const 1)))
    (i32.store (local.get $to)
      (select (local.get $at) (local.get $length)
        (i32.gt_u (local.get $at) (local.get $length))))
    (i32.store offset=4 (local.get $to) (local.get $escapes))
    (i32.shr_u (i32.sub (local.get $to) (local.get $marks)) (i32.const 3))))
